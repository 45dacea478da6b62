#include "analysis/commands/gate/gate_json.h"

#include <cmath>

#include "analysis/commands/gate/gate_words.h"
#include "analysis/report/report_data/side_values.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {
namespace {

// What the error rate is a share of.
const char* error_text(const JudgedGate& judged) {
  if (judged.failures_decide())
    return "of gates in which no workload of the head fails more often, at most this share is rejected";
  if (judged.place_decides())
    return "of workloads whose place makes no difference, at most this share is called worse by it";
  if (judged.stream && judged.answer == report::Worse::kYes)
    return "of the stream's pairs of commits that are called worse, on average at most this share is not";
  if (judged.answer == report::Worse::kNo)
    return "of gates in which a declared response is worse by the margin, at most this share is accepted";
  for (const JudgedQuestion& one : judged.worse)
    if (one.response->declared) return "of gates in which no declared response is worse, at most this share is rejected";
  return "of exploratory benchmarks that are called worse, at most this share is not";
}

// Of the largest regression whose cause can be asked for. Null: of none.
const std::string* cause_command(const JudgedGate& judged, const GateFacts& facts) {
  for (const JudgedQuestion& one : judged.worse) {
    const auto found = facts.cause_commands.find(one.contrast->workload);
    if (found != facts.cause_commands.end()) return &found->second;
  }
  return nullptr;
}

// For programs that decide: what to do, how often that is wrong, what the change is, what it has cost to learn, and what would
// settle it.
void write_decision(const report::Report& report, const JudgedGate& judged, const GateFacts& facts, text::JsonWriter& json) {
  const bool is_worse = judged.whole == report::Worse::kYes, is_fine = judged.whole == report::Worse::kNo;
  json.begin_object("decision");
  json.value("action", is_worse ? "reject" : is_fine ? "accept" : "repeat");
  json.value("exit_status", exit_code_of(judged.whole));
  const GatePlace* const place = judged.place_decides() && !judged.failures_decide() ? worst_place(*facts.places) : nullptr;
  if (is_worse || is_fine)
    json.value("error_rate", place ? place->explanation.settings.alpha / 2  // the code has the other half
                             : is_worse && judged.stream && !judged.failures_decide() ? facts.stream->rule.rate : report.alpha)
        .value("error", error_text(judged));
  // The largest of those that decide: what is worse, else what is open, else what is fine.
  const std::vector<JudgedQuestion> open = open_ones(judged);
  const JudgedQuestion* largest = nullptr;
  for (const JudgedQuestion& one : judged.answer == report::Worse::kYes ? judged.worse
                             : judged.answer == report::Worse::kNo ? judged.fine : open)
    if (one.contrast->refused.empty() && (largest == nullptr || cost_of(one).estimate > cost_of(*largest).estimate))
      largest = &one;
  if (place != nullptr) {
    const statistics::CauseEffect& cost = place->explanation.answer->place;
    json.begin_object("largest").value("workload", place->workload).value("response", "place").value("unit", "share");
    json.value("cost", std::expm1(cost.estimate)).value("cost_low", std::expm1(cost.low));
    json.value("cost_high", std::expm1(cost.high)).end();
  } else if (largest != nullptr && !judged.failures_decide()) {
    const report::Interval cost = cost_of(*largest);
    json.begin_object("largest");
    json.value("workload", largest->contrast->workload).value("response", largest->contrast->response);
    json.value("unit", largest->contrast->scale == report::Scale::kLog ? "share" : largest->response->unit);
    json.value("cost", cost.estimate).value("cost_low", cost.low).value("cost_high", cost.high);
    json.end();
  }
  json.value("command", facts.command);
  if (const std::string* cause = judged.answer == report::Worse::kYes ? cause_command(judged, facts) : nullptr)
    json.value("cause_command", *cause);
  json.value("seconds", facts.seconds);
  if (!is_worse && !is_fine) {
    const report::Contrast* most = needs_most(open);
    json.value("settles_replicates", most ? most->settles_worse_n : std::nullopt);
    if (judged.stream) json.value("settles_sessions", judged.stream->settles_sessions);
  }
  json.end();
}

// What lies between sessions, and what the blocks of this one say alone.
void write_across(const AcrossSessions& across, text::JsonWriter& json) {
  json.begin_object("within_session").value("conf_low", across.within.low).value("conf_high", across.within.high);
  json.value("p_value", across.p_within).end();
  json.begin_object("between_sessions").value("sessions", across.sessions).value("in_interval", across.in_interval);
  if (across.between)
    json.value("sd", across.between->sd).value("sd_low", across.between->low).value("sd_high", across.between->high);
  json.end();
}

void write_stream(const StreamAnswer& answer, const GateStream& stream, text::JsonWriter& json) {
  json.begin_object("stream").value("name", stream.name).value("fdr", stream.rule.rate).value("tests", stream.rule.tests);
  json.value("number", stream.number).value("called_before", stream.called_before).value("called", answer.called);
  json.value("log_e", answer.log_e).value("log_e_needed", answer.log_needed).value("sessions", answer.sessions).end();
}

void write_places(const GatePlaces& places, text::JsonWriter& json) {
  const char* words[] = {"not worse", "worse", "unsure"};
  json.begin_object("places").value("rule", kPlaceRules[static_cast<int>(places.rule)]).begin_array("workloads");
  for (const GatePlace& one : places.workloads) {
    json.begin_object().value("workload", one.workload);
    json.value("by_place", words[static_cast<int>(worse_by_place(one.explanation))]).begin_object("explain");
    write_explanation(json, one.explanation);
    json.end().end();
  }
  json.end().end();
}

}  // namespace

std::string gate_json(const report::Report& report, const JudgedGate& judged, const GateFacts& facts) {
  const char* words[] = {"not worse", "worse", "unsure"};
  text::JsonWriter json;
  json.begin_object();
  json.value("format", "stab-gate").value("version", 1).value("answer", words[static_cast<int>(judged.whole)]);
  json.value("base", facts.base).value("head", facts.head).value("unfinished", facts.unfinished).value("clock", facts.clock);
  json.value("margin", report.responses[0].margin).value("alpha", report.alpha).value("trials", report.analysed);
  write_decision(report, judged, facts, json);
  if (judged.stream) write_stream(*judged.stream, *facts.stream, json);
  if (facts.places) write_places(*facts.places, json);
  json.begin_array("copies");
  for (const auto& [workload, copies] : facts.copies) {
    json.begin_object().value("workload", workload);
    write_copies(json, copies);
    json.end();
  }
  json.end().value("uncounted", facts.uncounted).begin_array("sides_differ");
  for (const auto& [workload, differ] : facts.differ) {
    json.begin_object().value("workload", workload).value("outputs_differ", differ.outputs);
    json.value("exits_differ", differ.ends).value("same_file", differ.same_file).end();
  }
  json.end();
  write_failures(facts.failed, report.alpha, json);
  json.begin_array("care");
  for (const report::Caveat& caveat : caveats_of_gate(report)) json.element(report::care_text(caveat));
  json.end();
  if (const std::vector<const report::Contrast*> times = cpu_times(report); !times.empty()) {
    json.begin_array("cpu_time");
    for (const report::Contrast* of : times) {
      json.begin_object().value("workload", of->workload).value("estimate", of->interval.estimate);
      json.value("conf_low", of->interval.low).value("conf_high", of->interval.high).end();
    }
    json.end();
  }
  json.begin_array("questions");
  for (const auto* list : {&judged.worse, &judged.unsure, &judged.fine}) {
    for (const JudgedQuestion& one : *list) {
      const report::Contrast& contrast = *one.contrast;
      json.begin_object();
      json.value("workload", contrast.workload).value("response", contrast.response).value("declared", one.response->declared);
      json.value("answer", words[static_cast<int>(one.answer)]);
      if (contrast.refused.empty()) {
        json.value("estimate", contrast.interval.estimate).value("conf_low", contrast.interval.low);
        json.value("conf_high", contrast.interval.high).value("p_value", contrast.p_value).value("p_adjusted", contrast.p_holm);
        json.value("p_not_above", contrast.p_not_above).value("n", contrast.n);
        const report::SideValues values = report::compared_values(report, contrast);
        json.value("base_value", values.before).value("head_value", values.after).value("unit", one.response->unit);
        if (one.across != nullptr && !facts.sessions.command.empty()) write_across(*one.across, json);
        if (one.answer == report::Worse::kUnsure) json.value("settles_n", contrast.settles_worse_n);
      } else {
        json.value("refused", contrast.refused);
      }
      json.end();
    }
  }
  json.end().end();
  return json.take();
}

}  // namespace stab::commands
