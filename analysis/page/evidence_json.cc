#include "analysis/page/evidence_json.h"

#include <cstdio>

#include "analysis/text/json_writer.h"

namespace stab::page {

std::string evidence_json(const report::Evidence& evidence, const std::string& r_script) {
  text::JsonWriter json;
  json.begin_object().value("format", "stab-evidence").value("version", 1);
  json.value("number", evidence.experiment).value("options", evidence.options).value("at_daemon", evidence.at_daemon);
  json.value("name", evidence.name).value("state", evidence.state);
  json.value("submitted", evidence.submitted).value("finished", evidence.finished);
  json.value("plan", evidence.plan).value("plan_path", evidence.plan_path).value("schedule", evidence.schedule);
  json.value("seed", std::to_string(evidence.seed));  // a number of 64 bits is none of JavaScript's
  json.begin_array("exclusion_rules");
  for (const std::string& rule : evidence.exclusion_rules) json.element(rule);
  json.end().begin_array("builds");
  for (const report::BuildEvidence& build : evidence.builds)
    json.begin_object().value("name", build.name).value("state", build.state).value("command", build.command)
        .value("input_hash", build.input_hash).value("sha256", build.sha256).end();
  json.end().begin_object("host");
  for (const auto& [fact, value] : evidence.host) json.value(fact, value);
  json.end().begin_array("events");
  for (const report::PastEvent& event : evidence.events)
    json.begin_object().value("at", event.at).value("kind", event.kind).value("text", event.text).end();
  json.end().begin_array("calm");
  for (const std::string& track : evidence.calm) json.element(track);
  json.end();
  if (const auto& selftest = evidence.selftest) {
    json.begin_object("selftest").value("experiment", selftest->experiment).value("at", selftest->at);
    json.value("comparisons", selftest->comparisons)
        .value("false_alarms", selftest->false_alarms)
        .value("links_a_side", selftest->links);
    json.value("alpha", selftest->alpha)
        .value("rate", selftest->rate)
        .value("conf_low", selftest->low)
        .value("conf_high", selftest->high);
    json.value("too_many", selftest->too_many).end();
  }
  if (!evidence.no_replays.empty()) {
    json.begin_array("no_replays");
    for (const report::NoReplay& one : evidence.no_replays) {
      json.begin_object().value("why", one.why).begin_array("cells");
      for (const std::vector<uint16_t>& cell : one.cells) {
        json.begin_array({});
        for (const uint16_t level : cell) json.value({}, uint64_t{level});
        json.end();
      }
      json.end().end();
    }
    json.end();
  }
  // Each is a text of its own format.
  json.begin_array("layout_maps");
  for (const std::string& map : evidence.layout_maps) json.element(map);
  json.end();
  json.value("r_script", r_script);
  json.end();
  return json.take();
}

}  // namespace stab::page
