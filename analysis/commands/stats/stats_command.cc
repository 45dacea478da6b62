// `stabctl stats`: finds the method, checks its flags, loads its columns, renders what it found.
#include "analysis/commands/stats/stats_command.h"

#include <algorithm>

#include "analysis/commands/stats/stats_methods.h"
#include "analysis/text/text_table.h"
#include "base/wording.h"

namespace stab::commands {
namespace {

const std::vector<std::string> kSwitches{"json", "log", "exact", "asymptotic", "no-continuity", "equal-variance",
                                         "paired", "additive", "strict", "coz", "help"};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    out.emplace_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

std::vector<const StatsMethod*> all_methods() {
  std::vector<const StatsMethod*> methods;
  for (const auto family : {sample_methods(), shape_methods(), quantile_methods(), group_methods(), mixed_methods(),
                            causal_methods(), repetition_methods(), planning_methods()})
    for (const StatsMethod& method : family) methods.push_back(&method);
  return methods;
}

std::string usage() {
  std::string out =
      "stabctl stats METHOD data.csv [--response COL] [--group COL[,COL...]] [--pair COL] [--json] ...\n"
      "One statistical method on the columns of a CSV file with a header ('-' is standard input).\n"
      "Defaults are R's; levels are sorted, the first minus the second; --baseline LEVEL is subtracted. Columns are\n"
      "separated by commas, semicolons or tabs; rows without a value are left out, which is said. METHOD --help lists flags.\n\n";
  text::TextTable table({{"METHOD", text::TextTable::Align::kLeft}, {"", text::TextTable::Align::kLeft}});
  for (const StatsMethod* method : all_methods()) table.add({std::string(method->name), std::string(method->help)});
  return out + table.text(200);
}

std::string usage(const StatsMethod& method) {
  std::string out = "stabctl stats " + std::string(method.name) + (method.without_data ? "" : " data.csv");
  for (const std::string& flag : words(method.flags)) {
    const bool is_switch = std::find(kSwitches.begin(), kSwitches.end(), flag) != kSwitches.end();
    out += " [--" + flag + (is_switch ? "]" : " X]");
  }
  return out + " [--json]\n" + std::string(method.help) + "\n";
}

}  // namespace

CommandOutput run_stats(const std::vector<std::string>& args, int width) {
  const Result<Arguments> parsed = Arguments::parse(args, kSwitches);
  if (!parsed) return refused(parsed.error());
  if (parsed->positional().empty()) {
    if (parsed->has("help")) return {usage(), "", 0};
    return {"", "error: which method?\n" + usage(), 2};
  }
  const std::string& wanted = parsed->positional()[0];
  const std::vector<const StatsMethod*> methods = all_methods();
  const auto found =
      std::find_if(methods.begin(), methods.end(), [&](const StatsMethod* method) { return method->name == wanted; });
  if (found == methods.end()) {
    std::vector<std::string> names;
    for (const StatsMethod* method : methods) names.emplace_back(method->name);
    const std::string hint = did_you_mean(wanted, names);
    return refused(bad_input("unknown method '" + wanted + "'; " + (hint.empty() ? "'stabctl stats --help' lists them" : hint)));
  }
  const StatsMethod& method = **found;
  if (parsed->has("help")) return {usage(method), "", 0};
  std::vector<std::string> allowed = words(method.flags);
  allowed.push_back("json");
  if (method.with_data) allowed.insert(allowed.end(), {"decimal", "baseline"});
  if (const Status status = parsed->only(allowed); !status) return refused(status.error());

  const size_t files = method.without_data ? 0 : 1;
  if (parsed->positional().size() != 1 + files)
    return refused(bad_input(files ? "'stats " + wanted + "' takes one CSV file ('-' is standard input)"
                                   : "'stats " + wanted + "' takes flags only"));
  if (method.of_file) return method.of_file(*parsed, parsed->positional()[1], width);

  text::Finding finding;
  std::string notes;
  finding.add("method", wanted);
  const auto run = [&]() -> Result<text::Finding> {
    if (!method.with_data) return method.without_data(*parsed);
    STAB_TRY(const StatsData data, StatsData::load(*parsed, parsed->positional()[1]));
    if (!data.notes().empty()) notes = data.notes() + "\n";
    finding.add("response", data.response_name());
    return method.with_data(*parsed, data);
  };
  const Result<text::Finding> result = run();
  if (!result) return refused(result.error());
  finding.append(*result);
  if (const std::string name = finding.not_finite(); !name.empty())
    return refused(bad_input("'" + name + "' is beyond what a double holds; rescale the column, or take a less extreme level"));
  if (parsed->has("json")) return {finding.json(), notes, 0};
  return {finding.text(width), notes, 0};
}

}  // namespace stab::commands
