// stabctl prints it from a database of one's own or gets it from the daemon, the same text.
#include "stabd/log_text.h"

#include <algorithm>
#include <ctime>
#include <string_view>

#include "stabd/printable.h"

namespace stab::engine {
namespace {

std::string date_text(int64_t realtime_ns) {
  const time_t seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

// A stranger's lines are set in, so that none of them looks like one of ours.
std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += "    " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

}  // namespace

Result<std::string> log_text(store::Store& store, store::Id experiment) {
  std::string text;
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment));
  for (const store::BuildRow& build : builds)
    text += "build " + build.name + ": " + std::string(store::name(build.state)) + "\n" + indented(build.log);
  STAB_TRY(const std::vector<store::EventRow> events, store.events(experiment));
  for (const store::EventRow& event : events)
    text += date_text(event.at_ns) + "  " + padded(event.kind, 16) + " " + event.text + "\n";
  for (const store::TrialState state : {store::TrialState::kFailed, store::TrialState::kTimeout, store::TrialState::kLost}) {
    store::Store::TrialFilter filter;
    filter.state = state;
    STAB_TRY(const std::vector<store::TrialRow> trials, store.trials(experiment, filter));
    for (const store::TrialRow& trial : trials) {
      STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
      text += "trial " + std::to_string(trial.id) + ", attempt " + std::to_string(trial.attempt) + ": " +
              std::string(store::name(state)) + ": " + outcome.failure + "\n" + indented(outcome.stdout_head) + indented(outcome.stderr_head);
    }
  }
  if (text.size() > kLogTextBytes)
    text = "(the first " + std::to_string(text.size() - kLogTextBytes) + " bytes are not shown)\n" +
           text.substr(text.size() - kLogTextBytes);
  return printable(text);
}

}  // namespace stab::engine
