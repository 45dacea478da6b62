// Tables as LaTeX: what a parser of its tables demands, with names that are made of its commands.
#include "analysis/text/latex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/report/report_data/report.h"
#include "analysis/text/text_table.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using testing::HasSubstr;

constexpr char kHostile[] = "[a]*{b}\\input{/etc/passwd} $x$ & 50 % #1 _^~ <|>\"\n%%\t";

// A name of the commands that we write, or a symbol after a backslash.
bool is_known(const std::string& command) {
  static const std::vector<std::string> kKnown{
      "begin", "end", "caption", "centering", "toprule", "midrule", "bottomrule", "endhead", "endfoot", "item",
      "textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "char", "times", "pm", "alpha",
      "mu", "textdagger", "leq", "geq", "ldots", "\\", "{", "}", "$", "&", "%", "#", "_"};
  return std::find(kKnown.begin(), kKnown.end(), command) != kKnown.end();
}

// Groups and environments close in order, every command is one of ours, each row has as many cells as its table has columns.
// Empty: all is well.
std::string fault_of(const std::string& text) {
  std::vector<std::string> open;
  size_t columns = 0, cells = 1, braces = 0;
  bool in_table = false, in_math = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {  // an unescaped one is a comment, and only ours begin lines
      if (i > 0 && text[i - 1] != '\n') return "a comment within a line: " + text.substr(i, 30);
      while (i < text.size() && text[i] != '\n') ++i;
      continue;
    }
    if (c == '{') ++braces;
    if (c == '}' && braces-- == 0) return "a group that nobody began";
    if (c == '$') in_math = !in_math;
    if ((c == '_' || c == '^' || c == '#' || c == '~') && !in_math) return std::string("a bare ") + c;
    if (c == '&') {
      if (!in_table) return "a bare & outside of a table";
      ++cells;
    }
    if (c != '\\') continue;
    std::string command;
    while (i + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[i + 1]))) command += text[++i];
    if (command.empty() && i + 1 < text.size()) command = text[++i];
    if (!is_known(command)) return "the command \\" + command;
    if (command == "begin" || command == "end") {
      const size_t close = text.find('}', i);
      const std::string name = text.substr(i + 2, close - i - 2);
      if (command == "begin") open.push_back(name);
      else if (open.empty() || open.back() != name) return "the end of " + name;
      else open.pop_back();
      i = close;
      const bool table = name == "tabular" || name == "longtable";
      if (table && command == "begin") {
        const size_t end = text.find('}', i + 1);
        columns = end - i - 2;
        i = end;
      }
      if (table) in_table = command == "begin", cells = 1;
    }
    if (command == "caption") {  // its own group, then in a longtable a line end that ends no row
      int depth = 0;
      do {
        ++i;
        if (text[i] == '\\') { ++i; continue; }
        depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
      } while (depth > 0);
      if (text.substr(i + 1, 3) == " \\\\") i += 3;
    }
    if (command == "\\" && in_table) {
      if (cells != columns)
        return std::to_string(cells) + " cells in " + std::to_string(columns) + " columns before " + text.substr(i, 40);
      cells = 1;
    }
  }
  if (!open.empty()) return open.back() + " does not end";
  return braces != 0 ? "a group that does not end" : in_math ? "math that does not end" : "";
}

TEST(Latex, TheParserSeesWhatIsWrong) {
  EXPECT_EQ(fault_of("\\begin{tabular}{lr}\na & b \\\\\n\\end{tabular}\n"), "");
  for (const char* wrong :
       {"\\begin{tabular}{lr}\na & b & c \\\\\n\\end{tabular}\n", "a_b", "\\input{x}", "{", "50 % of", "a & b"})
    EXPECT_NE(fault_of(wrong), "") << wrong;
}

TEST(Latex, NothingOfANameIsACommandAGroupOrAPlaceOfATable) {
  EXPECT_EQ(fault_of(text::as_latex(kHostile)), "") << text::as_latex(kHostile);
  EXPECT_EQ(text::as_latex("a_b & 5 %"), "a\\_b \\& 5 \\%");
  EXPECT_EQ(text::as_latex("\\"), "\\textbackslash{}");
  EXPECT_EQ(text::as_latex("−1 × α"), "$-$1 $\\times$ $\\alpha$");
  EXPECT_EQ(text::as_latex("Grüße"), "Grüße");
  EXPECT_EQ(text::as_latex("[x"), "{[}x") << "it would be an argument of the line end before it";
  EXPECT_EQ(text::as_latex("a\tb\nc\x1b[1m\xff"), "a b c?{[}1m?");
}

TEST(Latex, NoTwoCharactersOfANameBecomeAnother) {
  EXPECT_EQ(text::as_latex("--param -O2 ---"), "-{}-param -O2 -{}-{}-");
  EXPECT_EQ(text::as_latex("''``,,?`!`"), "'{}'`{}`,{},?{}`!{}`");
  EXPECT_EQ(text::as_latex("1–2"), "1--2") << "a dash that is one stays one";
}

TEST(Latex, ATableKeepsItsColumnsWhateverItHolds) {
  text::TextTable table({{kHostile, text::TextTable::Align::kLeft}, {"p", text::TextTable::Align::kRight}});
  for (int i = 0; i < 100; ++i) table.add({i % 3 == 0 ? kHostile : "plain", "0.05"});
  const std::string text = table.latex(kHostile);
  EXPECT_EQ(fault_of(text), "") << text.substr(0, 600);
  EXPECT_THAT(text, HasSubstr("\\begin{longtable}{lr}"));
  text::TextTable small({{"a", text::TextTable::Align::kLeft}});
  small.add({"b"});
  EXPECT_EQ(small.latex("c"),
            "\\begin{table}[htbp]\n\\centering\n\\caption{c}\n\\begin{tabular}{l}\n\\toprule\na \\\\\n\\midrule\nb \\\\\n"
            "\\bottomrule\n\\end{tabular}\n\\end{table}\n\n");
}

TEST(Latex, AReportHasItsMainTables) {
  report::Samples samples = lab_samples(3, {.programs = 3, .replicates = 10});
  samples.workloads[1] = kHostile;
  samples.factors[1].levels[1] = "\\end{tabular}";
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  const std::string text = report::render_latex(*report);
  EXPECT_EQ(fault_of(text), "") << text;
  EXPECT_THAT(text, HasSubstr("wall\\_time, differences with 95 \\% intervals"));
  EXPECT_THAT(text, HasSubstr("wall\\_time, cells: geometric means"));
  EXPECT_THAT(text, HasSubstr("wall\\_time, analysis of variance"));
  EXPECT_THAT(text, HasSubstr("wall\\_time, analysis of variance for others like these programs; terms against their variation "
                              "between programs"));
  EXPECT_THAT(text, HasSubstr("\\begin{itemize}\n\\item "));
  EXPECT_THAT(text, HasSubstr("fib & shuffle & zero & page & 10 & "));
}

// A factor of three levels against its variation between programs: without Greenhouse and Geisser's correction p holds for equal
// correlations only.
TEST(Latex, WhatHoldsForOtherProgramsHasATableOfItsOwn) {
  report::Samples samples = lab_samples(3, {.programs = 3, .replicates = 10, .stack_effect = 0.02});
  samples.factors[1].levels.push_back("half");
  for (report::Trial& trial : samples.trials)
    if (trial.levels[1] == 1 && trial.block % 2) trial.levels[1] = 2;
  const auto report = report::analyse(with_layouts(samples));
  ASSERT_TRUE(report) << report.error().message;
  const auto within =
      std::find_if(report->anovas.begin(), report->anovas.end(), [](const report::AnovaTable& t) { return t.within_subjects; });
  ASSERT_NE(within, report->anovas.end());
  const auto row =
      std::find_if(within->rows.begin(), within->rows.end(), [](const statistics::AnovaRow& r) { return r.term == "stack"; });
  ASSERT_NE(row, within->rows.end());
  const report::TermError& error = within->errors[static_cast<size_t>(row - within->rows.begin())];
  ASSERT_EQ(error.df, 4);
  ASSERT_GT(error.p_greenhouse_geisser, *row->p_value);
  const std::string text = report::render_latex(*report);
  EXPECT_EQ(fault_of(text), "") << text;
  const size_t own = text.find("analysis of variance for others like these programs");
  ASSERT_NE(own, std::string::npos) << text;
  EXPECT_EQ(text.find("these programs &", text.find("analysis of variance")), std::string::npos);
  EXPECT_THAT(text.substr(own), HasSubstr("term & df & error df & sum of squares & F & p & p (GG) & partial eta squared"));
  EXPECT_THAT(text.substr(own), HasSubstr("stack & 2 & 4 & "));
  EXPECT_THAT(text.substr(own), HasSubstr(" & " + text::as_latex(text::p_text(*row->p_value)) + " & " +
                                          text::as_latex(text::p_text(error.p_greenhouse_geisser)) + " & "));
  const report::AnovaTable& alone = report->anovas[0];
  ASSERT_FALSE(alone.robust_method.empty());
  EXPECT_THAT(text.substr(0, own), HasSubstr("p & p (" + alone.robust_method + ")"));
}

}  // namespace
}  // namespace stab::analysis
