#include "stabd/daemon/answers/series_answers.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "analysis/commands/bisect/series_trend.h"
#include "base/json_line.h"
#include "stabd/engine/results/load_series.h"

namespace stab::daemon {
namespace {

using Json = nlohmann::json;

// Columns of what is printed, which are a client's number.
constexpr int64_t kNarrowest = 20, kWidest = 1000;
// Names of series, factors and levels are far shorter.
constexpr size_t kMaxNameBytes = 4096;

}  // namespace

int width_asked(const RpcRequest& request) {
  return static_cast<int>(std::clamp(request.number("width").value_or(100), kNarrowest, kWidest));
}

Result<std::string> series_answer(store::Store& store, const engine::Asker& asker) {
  STAB_TRY(const engine::SeriesNames found, engine::series_names(store, asker, engine::kSeriesForMany));
  Json list = Json::array();
  for (const engine::SeriesName& one : found.names)
    list.push_back({{"name", one.name}, {"uid", one.uid}, {"experiments", one.experiments}, {"newest", one.newest}});
  Json answer = {{"series", list}};
  if (found.cut) answer["older_left_out"] = true;
  return json_line(answer);
}

Result<std::string> trend_answer(store::Store& store, const engine::Asker& asker, const RpcRequest& request) {
  for (const char* param : {"series", "factor", "anchor"})
    if (request.text(param).size() > kMaxNameBytes)
      return bad_input("param '" + std::string(param) + "' has more than " + std::to_string(kMaxNameBytes) + " bytes");
  STAB_TRY(const engine::LoadedSeries series, engine::load_series(store, request.text("series"), asker, engine::kSeriesForMany));
  commands::TrendOptions options;
  options.series = request.text("series");
  options.request = {request.text("factor"), request.text("anchor")};
  options.left_out = series.left_out;
  options.json = request.number("json").value_or(0) != 0;
  options.full = request.number("full").value_or(0) != 0;
  options.width = width_asked(request);
  const commands::CommandOutput output = commands::run_trend(series.parts, options);
  return json_line(Json{{"out", output.out}, {"err", output.err}, {"exit_code", output.exit_code}});
}

}  // namespace stab::daemon
