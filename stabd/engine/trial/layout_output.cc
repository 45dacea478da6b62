// An output is what a process leaves: how it ended, what it wrote to standard output, and whether that is what the plan
// expects, which covers its files. Standard error is left out, where programs write times and addresses that nobody
// compares.
#include "stabd/engine/trial/layout_output.h"

#include <algorithm>

#include "stabd/engine/trial/expectation.h"

namespace stab::engine {
namespace {

constexpr size_t kShownBytes = 60;

bool same_end(const store::Outcome& a, const store::Outcome& b) {
  return a.exit_status == b.exit_status && a.signal == b.signal && a.stdout_sha256 == b.stdout_sha256;
}

bool same_output(const store::Outcome& a, const store::Outcome& b) { return same_end(a, b) && a.state == b.state; }

// The line of `text` that begins at or before its first byte that `other` doesn't have.
std::string differing_line(const std::string& text, const std::string& other) {
  const size_t at = static_cast<size_t>(std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first - text.begin());
  const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  std::string line = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
  if (line.size() > kShownBytes) line = line.substr(0, kShownBytes) + "...";
  return line;
}

// What this run gave that the other one didn't.
std::string shown(const store::Outcome& run, const store::Outcome& other) {
  if (run.exit_status != other.exit_status || run.signal != other.signal) return describe_end(run.exit_status, run.signal);
  if (run.stdout_head != other.stdout_head) return "'" + differing_line(run.stdout_head, other.stdout_head) + "'";
  if (run.stdout_sha256 != other.stdout_sha256) return "stdout with sha256 " + run.stdout_sha256.substr(0, 12) + "...";
  return run.state == store::TrialState::kVerified ? "files as expected" : "other files than expected";
}

}  // namespace

bool is_right_output(const store::Outcome& failed, const store::Outcome& repeated) {
  return repeated.state == store::TrialState::kVerified && same_end(failed, repeated);
}

OutputCause cause_of_output(const store::Outcome& failed, const store::Outcome& repeated, const store::Outcome& neutral) {
  if (same_output(failed, neutral)) return OutputCause::kElsewhere;
  return same_output(failed, repeated) ? OutputCause::kLayout : OutputCause::kVaries;
}

std::string words_of_output(OutputCause cause, const store::Outcome& failed, const store::Outcome& neutral, uint64_t seed) {
  switch (cause) {
    case OutputCause::kElsewhere: return "with code, stack and heap off it is the same: the layout is not why";
    case OutputCause::kVaries:
      return "the same seed gave another output when it was repeated: it comes and goes from run to run, with the time at which "
             "layouts change or with what no layout decides";
    case OutputCause::kLayout: break;
  }
  return "the program's output depends on its layout: seed " + std::to_string(seed) + " gives " + shown(failed, neutral) +
         ", again when repeated; with code, stack and heap off it is " + shown(neutral, failed);
}

}  // namespace stab::engine
