// stabctl prints it from a database of one's own or gets it from the daemon, the same text.
#include "stabd/engine/results/log_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "stabd/engine/results/local_time.h"
#include "stabd/engine/results/slot_status.h"

namespace stab::engine {
namespace {

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

// The same of what may have several lines, the first of which stands behind ours.
std::string first_line_out(std::string_view text) {
  const size_t end = std::min(text.find('\n'), text.size());
  return std::string(text.substr(0, end)) + "\n" + indented(text.substr(std::min(end + 1, text.size())));
}

// The end of a long text, made from its last part on, so that the rest is never made.
class LastParts {
 public:
  bool full() const { return bytes_ > kLogTextBytes; }
  void put_before(std::string part) {
    bytes_ += part.size();
    parts_.push_back(std::move(part));
  }
  std::string text() const {
    std::string out;
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) out += *part;
    if (!full()) return out;
    return "(what is before is not shown)\n" + out.substr(out.size() - kLogTextBytes);
  }

 private:
  std::vector<std::string> parts_;
  size_t bytes_ = 0;
};

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

}  // namespace

Result<std::string> log_text(store::Store& store, store::Id experiment) {
  LastParts last;
  constexpr store::TrialState kNotPassed[] = {store::TrialState::kLost, store::TrialState::kTimeout, store::TrialState::kFailed};
  for (const store::TrialState state : kNotPassed) {
    store::Store::TrialFilter filter;
    filter.state = state;
    STAB_TRY(const std::vector<store::TrialRow> trials, store.trials(experiment, filter));
    for (auto trial = trials.rbegin(); trial != trials.rend() && !last.full(); ++trial) {
      STAB_TRY(const store::Outcome outcome, store.outcome(trial->id));
      last.put_before("trial " + std::to_string(trial->id) + ", attempt " + std::to_string(trial->attempt) + ": " +
                      std::string(store::name(state)) + ": " + first_line_out(outcome.failure) + indented(outcome.stdout_head) +
                      indented(outcome.stderr_head));
    }
  }
  STAB_TRY(const std::vector<store::EventRow> events, store.events(experiment));
  for (auto event = events.rbegin(); event != events.rend() && !last.full(); ++event)
    last.put_before(local_time(event->at_ns) + "  " + padded(event->kind, 16) + " " + first_line_out(event->text));
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment));
  for (auto build = builds.rbegin(); build != builds.rend() && !last.full(); ++build)
    last.put_before("build " + build->name + ": " + std::string(store::name(build->state)) + "\n" + indented(build->log));
  STAB_TRY(const std::vector<std::string> slots, slots_text(store, experiment));
  for (auto slot = slots.rbegin(); slot != slots.rend() && !last.full(); ++slot) last.put_before(first_line_out(*slot));
  return printable(last.text());
}

}  // namespace stab::engine
