#include "stabd/daemon/events/watch_events.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/json_line.h"

namespace stab::daemon {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kEnds[] = {"done", "failed", "cancelled", "paused", "stopped", "unsettled"};
// In the order of WatchEvent's alternatives.
constexpr const char* kKinds[] = {"phase", "note", "trial", "change", "end", "progress"};

void write(Json& json, const PhaseNews& phase) { json["text"] = phase.text; }
void write(Json& json, const NoteNews& note) { json["text"] = note.text; }
void write(Json& json, const ChangeNews& change) { json["text"] = change.text; }
void write(Json& json, const EndNews& ending) {
  json["state"] = name(ending.how);
  json["text"] = ending.text;
}
void write(Json& json, const engine::ProgressNews& news) {
  json["subject"] = news.subject;
  json["points"] = Json::array();
  for (const engine::PointVisits& point : news.points) json["points"].push_back({{"name", point.name}, {"visits", point.visits}});
}
void write(Json& json, const ToldTrial& told) {
  const engine::TrialNews& news = told.news;
  json["trial_kind"] = store::name(news.kind);
  json["state"] = store::name(news.state);
  json["subject"] = news.subject;
  json["cell"] = news.cell;
  json["done"] = news.done;
  json["planned"] = news.planned;
  if (news.wall_ns) json["wall_ns"] = *news.wall_ns;
  if (told.relative_log_s) json["relative_log_s"] = *told.relative_log_s;
  if (told.left_ns) json["left_ns"] = *told.left_ns;
  if (news.layout)
    json["layout"] = {{"id", news.layout->id}, {"shared", news.layout->shared}, {"fixed_code", news.layout->fixed_code}};
  if (!news.failure.empty()) json["failure"] = news.failure;
}

// A word of an enum; whatever is none is told to the caller's catch.
template <typename Parse>
auto word(const Json& json, const char* key, const Parse& parse) {
  const std::string text = json.at(key);
  const auto value = parse(text);
  if (!value) throw std::invalid_argument(std::string("'") + key + "' has no such word: '" + text + "'");
  return *value;
}

PhaseNews read_phase(const Json& json) { return {json.at("text")}; }
NoteNews read_note(const Json& json) { return {json.at("text")}; }
ChangeNews read_change(const Json& json) { return {json.at("text")}; }
EndNews read_end(const Json& json) { return {word(json, "state", experiment_end), json.at("text")}; }
engine::ProgressNews read_progress(const Json& json) {
  engine::ProgressNews news{json.at("subject"), {}};
  for (const Json& point : json.at("points")) news.points.push_back({point.at("name"), point.at("visits")});
  return news;
}
ToldTrial read_trial(const Json& json) {
  ToldTrial told;
  engine::TrialNews& news = told.news;
  news.kind = word(json, "trial_kind", store::trial_kind);
  news.state = word(json, "state", store::trial_state);
  news.subject = json.at("subject");
  news.cell = json.at("cell");
  news.done = json.at("done");
  news.planned = json.at("planned");
  if (json.contains("wall_ns")) news.wall_ns = json.at("wall_ns").get<int64_t>();
  if (json.contains("relative_log_s")) told.relative_log_s = json.at("relative_log_s").get<double>();
  if (json.contains("left_ns")) told.left_ns = json.at("left_ns").get<int64_t>();
  if (json.contains("layout")) {
    const Json& layout = json.at("layout");
    news.layout = {layout.at("id"), layout.at("shared"), layout.at("fixed_code")};
  }
  if (json.contains("failure")) news.failure = json.at("failure");
  return told;
}

Json json_of(const engine::LogTimes& times) { return {{"n", times.n}, {"mean_log_s", times.mean}, {"squares", times.squares}}; }
engine::LogTimes times_in(const Json& json) { return {json.at("n"), json.at("mean_log_s"), json.at("squares")}; }

// What nlohmann's parser and word() throw ends here.
template <typename Read>
auto reading(const char* what, const Read& read) -> Result<decltype(read())> {
  try {
    return read();
  } catch (const std::exception& error) {
    return bad_input(std::string("the daemon's ") + what + " can't be read: " + error.what() + "; is it of another version?");
  }
}

}  // namespace

std::string_view name(ExperimentEnd end) { return kEnds[static_cast<size_t>(end)]; }

std::optional<ExperimentEnd> experiment_end(std::string_view name) {
  const auto at = std::find(std::begin(kEnds), std::end(kEnds), name);
  if (at == std::end(kEnds)) return {};
  return static_cast<ExperimentEnd>(at - std::begin(kEnds));
}

engine::TrialNews ToldTrial::for_precision() const {
  engine::TrialNews known = news;
  if (relative_log_s) known.wall_ns = std::llround(1e9 * std::exp(*relative_log_s));
  return known;
}

std::string to_json(const WatchEvent& event) {
  Json json = {{"experiment", event.experiment}, {"kind", kKinds[event.what.index()]}};
  std::visit([&](const auto& what) { write(json, what); }, event.what);
  return json_line(json);
}

Result<std::optional<WatchEvent>> watch_event(std::string_view text) {
  return reading("event", [&]() -> std::optional<WatchEvent> {
    const Json json = Json::parse(text);
    WatchEvent event;
    event.experiment = json.at("experiment");
    const std::string kind = json.at("kind");
    if (kind == kKinds[0]) event.what = read_phase(json);
    else if (kind == kKinds[1]) event.what = read_note(json);
    else if (kind == kKinds[2]) event.what = read_trial(json);
    else if (kind == kKinds[3]) event.what = read_change(json);
    else if (kind == kKinds[4]) event.what = read_end(json);
    else if (kind == kKinds[5]) event.what = read_progress(json);
    else return {};
    return event;
  });
}

std::string cells_json(const engine::Precision& precision) {
  Json cells = Json::array();
  for (const engine::CellTimes& times : precision.cells()) {
    Json cell = json_of(times.own);
    cell["subject"] = times.subject;
    cell["cell"] = times.cell;
    cell["fixed_code"] = times.fixed_code;
    if (const auto width = times.half_width()) cell["half_width"] = *width;
    for (const auto& [layout, shared] : times.shared) {
      Json one = json_of(shared);
      one["layout"] = layout;
      cell["shared"].push_back(std::move(one));
    }
    cells.push_back(std::move(cell));
  }
  return json_line(cells);
}

Result<engine::Precision> precision_in(std::string_view text) {
  return reading("cells", [&] {
    engine::Precision precision;
    for (const Json& cell : Json::parse(text)) {
      engine::CellTimes times{cell.at("subject"), cell.at("cell"), times_in(cell), {}, cell.at("fixed_code")};
      if (cell.contains("shared"))
        for (const Json& shared : cell.at("shared")) times.shared[shared.at("layout").get<uint64_t>()] = times_in(shared);
      precision.add(times);
    }
    return precision;
  });
}

}  // namespace stab::daemon
