// `stabctl stats causal`: the causal report of windows in a CSV file.
#include "analysis/causal_report/causal.h"
#include "analysis/commands/stats/causal_csv.h"
#include "analysis/commands/stats/stats_methods.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {
namespace {

// Seconds: each splits a regression's matrices.
constexpr size_t kMostArms = 400;
constexpr size_t kMostWindows = 2'000'000;

CommandOutput causal(const Arguments& args, const std::string& path, int width) {
  const auto run = [&]() -> Result<std::string> {
    STAB_TRY(const CsvText csv, CsvText::open(path));
    STAB_TRY(causal_report::CausalData data, causal_data_of(csv));
    STAB_TRY(data.margin, args.number("margin", data.margin));
    STAB_TRY(data.alpha, args.number("alpha", data.alpha));
    if (data.windows.size() > kMostWindows || data.lines.size() * std::max<size_t>(1, data.speedups.size()) > kMostArms)
      return bad_input("'" + path + "' has more than " + std::to_string(kMostArms) + " lines x speedups or " +
                       std::to_string(kMostWindows) + " windows");
    if (args.has("coz")) {
      if (data.cells.size() > 1) return bad_input("a profile of COZ's has no cells; leave the rows of one in the file");
      return causal_report::coz_profile(data, 0);
    }
    STAB_TRY(const causal_report::CausalReport report, causal_report::analyse_causal(data));
    if (!args.has("json")) return causal_report::render_causal_text(report, width, false);
    text::JsonWriter json;
    json.begin_object();
    json.value("method", "causal");
    causal_report::write_causal(json, report);
    json.end();
    return json.take();
  };
  Result<std::string> text = run();
  if (!text) return refused(text.error());
  return {*std::move(text), "", 0};
}

constexpr StatsMethod kCausalMethods[] = {
    {.name = "causal",
     .help = "which line is worth optimizing, from windows of virtual speedup; --coz: for 'coz plot'",
     .flags = "margin alpha coz",
     .of_file = causal},
};

}  // namespace

std::span<const StatsMethod> causal_methods() { return kCausalMethods; }

}  // namespace stab::commands
