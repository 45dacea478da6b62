// Lines of a program are set in, so that none of them looks like one of ours.
#include "stabd/engine/results/trial_output.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/json_line.h"
#include "base/printable.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

// What is shown of a text, whatever a stranger's database holds. Not cut within a character of several bytes.
std::string_view shown_part(std::string_view text) {
  size_t end = std::min(text.size(), kShownOutputBytes);
  const auto goes_on = [&](size_t at) { return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  for (int back = 0; back < 3 && end > 0 && goes_on(end); ++back) --end;
  return text.substr(0, end);
}

// Without what it printed.
StreamOutput stream_of(const std::optional<int64_t>& bytes, const std::string& sha256, const std::string& head) {
  return {bytes, one_line(sha256), {}, shown_part(head).size()};
}

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string bytes_text(int64_t bytes) { return grouped(bytes) + (bytes == 1 ? " byte" : " bytes"); }

std::string stream_text(const char* name, const StreamOutput& stream, store::Id trial) {
  std::string out = std::string(name) + ": ";
  if (!stream.bytes) return out + "not known\n";
  if (*stream.bytes == 0) return out + "nothing\n";
  const auto kept = static_cast<int64_t>(stream.kept);
  if (kept == 0)
    return out + bytes_text(*stream.bytes) + ", SHA-256 " + stream.sha256 +
           "; the trial passed, so they are not kept: 'stabctl replay " + std::to_string(trial) +
           "' runs it again and keeps the first\n";
  out += kept < *stream.bytes ? "the first " + grouped(kept) + " of " + bytes_text(*stream.bytes) : bytes_text(*stream.bytes);
  out += "\n";
  for (std::string_view rest = stream.head; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    out += "    " + std::string(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

Json stream_json(const StreamOutput& stream) {
  Json json{{"sha256", stream.sha256}, {"kept", stream.kept}, {"head", stream.head}};
  json["bytes"] = stream.bytes ? Json(*stream.bytes) : Json();
  return json;
}

// Who it is, without what it printed.
TrialOutput identity_of(const store::TrialRow& row, const store::Outcome& outcome, const store::ExperimentSummary& experiment,
                        const std::vector<store::SubjectRow>& subjects, const std::vector<store::CellRow>& cells) {
  TrialOutput out;
  out.trial = row.id;
  out.experiment = experiment.id;
  out.experiment_name = one_line(experiment.name);
  out.kind = row.kind;
  out.state = row.state;
  out.attempt = row.attempt;
  for (const store::SubjectRow& one : subjects)
    if (one.index == row.subject) out.subject = one_line(one.name);
  for (const store::CellRow& one : cells)
    if (one.index == row.cell) out.cell = one_line(one.name);
  out.failure = printable(shown_part(outcome.failure));
  out.exit_status = outcome.exit_status;
  out.signal = outcome.signal;
  out.out = stream_of(outcome.stdout_bytes, outcome.stdout_sha256, outcome.stdout_head);
  out.err = stream_of(outcome.stderr_bytes, outcome.stderr_sha256, outcome.stderr_head);
  return out;
}

}  // namespace

Result<TrialOutput> trial_output(store::Store& store, store::Id trial) {
  STAB_TRY(const store::TrialRow row, store.trial(trial));
  const bool has_ended = row.state == store::TrialState::kRecorded || row.state == store::TrialState::kFailed ||
                         row.state == store::TrialState::kTimeout || row.state == store::TrialState::kLost;
  if (!has_ended)
    return Error{ErrorCode::kUnavailable,
                 "trial " + std::to_string(trial) + " is " + std::string(store::name(row.state)) +
                     ": what a trial has printed is kept when it has ended",
                 {}};
  STAB_TRY(const store::ExperimentSummary experiment, store.summary(row.experiment));
  STAB_TRY(const auto subjects, store.subjects(row.experiment));
  STAB_TRY(const auto cells, store.cells(row.experiment));
  STAB_TRY(const store::Outcome outcome, store.outcome(trial));
  TrialOutput out = identity_of(row, outcome, experiment, subjects, cells);
  out.out.head = printable(shown_part(outcome.stdout_head));
  out.err.head = printable(shown_part(outcome.stderr_head));
  return out;
}

Result<std::vector<TrialOutput>> trials_not_passed(store::Store& store, store::Id experiment, size_t most) {
  STAB_TRY(const store::ExperimentSummary summary, store.summary(experiment));
  STAB_TRY(const auto subjects, store.subjects(experiment));
  STAB_TRY(const auto cells, store.cells(experiment));
  std::vector<store::TrialRow> rows;
  for (const store::TrialState state : {store::TrialState::kFailed, store::TrialState::kTimeout, store::TrialState::kLost}) {
    store::Store::TrialFilter filter;
    filter.state = state;
    STAB_TRY(const std::vector<store::TrialRow> trials, store.trials(experiment, filter));
    rows.insert(rows.end(), trials.begin(), trials.end());
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.id > b.id; });
  if (rows.size() > most) rows.resize(most);
  std::vector<TrialOutput> out;
  for (const store::TrialRow& row : rows) {
    STAB_TRY(const store::Outcome outcome, store.outcome(row.id));
    out.push_back(identity_of(row, outcome, summary, subjects, cells));
  }
  return out;
}

std::string output_text(const TrialOutput& output) {
  std::string text = "trial " + std::to_string(output.trial) + " of " + output.experiment_name + " (" +
                     std::to_string(output.experiment) + "): " + output.subject + ", " + output.cell +
                     (output.kind == store::TrialKind::kMain ? "" : ", " + std::string(store::name(output.kind))) + ", attempt " +
                     std::to_string(output.attempt) + ": " + std::string(store::name(output.state));
  if (output.failure.empty() && output.exit_status) text += ", exit status " + std::to_string(*output.exit_status);
  if (output.failure.empty() && output.signal) text += ", signal " + std::to_string(*output.signal);
  text += "\n";
  for (std::string_view rest = output.failure; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    text += "    " + std::string(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text + stream_text("stdout", output.out, output.trial) + stream_text("stderr", output.err, output.trial);
}

std::string output_json(const TrialOutput& output) {
  Json json{{"trial", output.trial},      {"experiment", output.experiment},
            {"name", output.experiment_name}, {"subject", output.subject},
            {"cell", output.cell},        {"kind", std::string(store::name(output.kind))},
            {"attempt", output.attempt},  {"state", std::string(store::name(output.state))},
            {"failure", output.failure},  {"stdout", stream_json(output.out)},
            {"stderr", stream_json(output.err)}};
  if (output.exit_status) json["exit_status"] = *output.exit_status;
  if (output.signal) json["signal"] = *output.signal;
  return json_line(json);
}

Result<TrialOutput> parse_output(std::string_view text) try {
  const Json json = Json::parse(text);
  TrialOutput out;
  out.trial = json.at("trial");
  out.experiment = json.at("experiment");
  out.experiment_name = one_line(json.at("name").get<std::string>());
  out.subject = one_line(json.at("subject").get<std::string>());
  out.cell = one_line(json.at("cell").get<std::string>());
  out.attempt = json.at("attempt");
  out.failure = printable(json.at("failure").get<std::string>());
  const auto kind = store::trial_kind(json.at("kind").get<std::string>());
  const auto state = store::trial_state(json.at("state").get<std::string>());
  if (!kind || !state) return Error{ErrorCode::kCorrupt, "the answer names no kind or state of a trial that there is", {}};
  out.kind = *kind;
  out.state = *state;
  if (json.contains("exit_status")) out.exit_status = json.at("exit_status");
  if (json.contains("signal")) out.signal = json.at("signal");
  for (auto [key, stream] : {std::pair("stdout", &out.out), std::pair("stderr", &out.err)}) {
    const Json& one = json.at(key);
    if (!one.at("bytes").is_null()) stream->bytes = one.at("bytes");
    stream->sha256 = one_line(one.at("sha256").get<std::string>());
    stream->head = printable(one.at("head").get<std::string>());
    stream->kept = one.at("kept");
  }
  return out;
} catch (const Json::exception& error) {
  return Error{ErrorCode::kCorrupt, std::string("the answer can't be read: ") + error.what(), {}};
}

}  // namespace stab::engine
