// Pen: how a report's headings, tables and notes look, as aligned text or Markdown; and values, differences and verdicts
// as people say them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/report/report_data/report.h"
#include "analysis/text/text_table.h"
#include "base/wording.h"

namespace stab::report {

struct Pen {
  int width = 100;
  bool colour = false;
  bool markdown = false;

  std::string paint(std::string_view code, std::string_view text) const;
  std::string heading(std::string_view text) const;
  std::string table(const text::TextTable& table) const;
  std::string note(std::string_view text) const;
  std::string before_table(std::string_view text) const;
  std::string item(std::string_view text) const;
};

// At most four digits, no trailing zeros: "95", "0.5"; from 10,000 to a million whole numbers: "12345".
std::string plain(double value);
// "code = stack:heap": an effect with its other names, of which at most so many.
std::string alias_string(const std::string& effect, const std::vector<std::string>& aliases, size_t most = SIZE_MAX);

// "replicates", "sliced blocks", or "rows" of plain data: what a cell has more or less of.
std::string replicates_word(const Report& report);

// Blocks of all kinds that it takes until so many have run in slices. pre: a sliced experiment's report
uint64_t blocks_for(const Slicing& slicing, uint64_t sliced);

// "slicing: 27 blocks sliced, 3 alone; difference between the two kinds ..." of the primary response: of the one question, or of
// the one that has the largest of several; or why it is not known.
std::string slicing_text(const Report& report);

// A value in the response's unit, times scaled to a readable one.
std::string value_text(const Response& response, double value, int digits = 4);
// Of the smallest difference that matters: "1 %", or in the response's unit; empty: none is too small to matter.
std::string margin_text(const Response& response);
// "+1.23 %" on a log scale, else in the response's unit.
std::string difference_text(const Response& response, double value);
// "[-1.20, +3.40] %": a unit that both ends share is said once.
std::string between(const std::string& low, const std::string& high);
std::string interval_text(const Response& response, const Interval& interval);
// "+1.23 % [-0.50, +2.90]" of an interval of ratios.
std::string ratio_interval_text(const Interval& ratio);
// The same with two decimals, as answers of one line have it: "+2.92 % [+0.57, +5.33]"; "x 44.1 [43.6, 44.7]" of what is surely
// twice the other or more, or half of it or less; "+12.00 % [x 0.0109, x 115]" where a percentage would be a long row of digits.
std::string change_and_interval(const Interval& ratio);

// "40 s", "12 min", "3.4 h", "2.5 days": how long a machine is needed, rounded up.
std::string machine_time_text(double seconds);

const Response& response_of(const Report& report, const std::string& name);
// "slower" where the response is a time, "higher" elsewhere. estimate: a ratio on the log scale, else a difference
std::string change_word(const Response& response, double estimate);
// "1.18 % slower", and of a ratio, which says the direction itself, "x 0.33 (faster)".
std::string change_text(const Response& response, double estimate);
// The word of a contrast that has changed; its verdict else.
std::string verdict_word(const Response& response, const Contrast& contrast);

// The contrasts that answer the plan's questions in one response, one for each: of the one workload, of these workloads, or,
// where they have no errors of their own, of programs like these. Changes first, then what is the same, unsure and withheld.
std::vector<const Contrast*> answering(const Report& report, const std::string& response);
// "; of 3 programs 2 changed, 1 unsure; other programs like these: unsure": what else the report knows of this question, with
// `of_workloads` where they have been counted.
std::string beyond(const Report& report, const Contrast& contrast, const std::string& of_workloads = {});

// The answers in sentences, changes first: of the primary response, and of all others that are declared and no benchmark of a
// plan's. `population` is the one that they are about.
struct Answers {
  struct Sentence {
    const Contrast* contrast = nullptr;
    std::string text;
  };
  Population population = Population::kOneWorkload;
  std::vector<Sentence> sentences;
};
Answers answers_of(const Report& report);

// The first thing to read: answers_of(), as many as a reader bears.
std::string answer(const Pen& pen, const Report& report);

}  // namespace stab::report
