// A sliced block: all of its trials run at the same time, and each is followed by its own table. What the others did to it is
// noted: how long it had their company, and what else ran on the CPU.
#include "stabd/engine/trial/live_trial.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "stabd/host/roots.h"

namespace stab::engine {

using store::TrialEvent;
using store::TrialState;

namespace {

using std::chrono::nanoseconds;

// How often tasks came onto this CPU, by /proc/schedstat, where the kernel keeps it (CONFIG_SCHED_INFO).
std::optional<int64_t> arrivals_on(const host::Roots& roots, int cpu) {
  std::istringstream lines(host::read_small_file(roots.proc + "/schedstat").value_or(""));
  const std::string wanted = "cpu" + std::to_string(cpu);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, last;
    words >> name;
    if (name != wanted) continue;
    while (words >> last) {
    }
    const auto number = host::to_integer(last);
    return number ? std::optional<int64_t>(*number) : std::nullopt;
  }
  return {};
}

// The kernel gives each the same share of the CPU until the first one ends; so the shortest one's CPU time is what each had in
// the company of all.
void note_company(const std::vector<LiveTrial*>& runs, const std::optional<int64_t>& arrivals) {
  nanoseconds shortest = nanoseconds::max(), sum{0}, first = nanoseconds::max(), last{0};
  int64_t switches = 0;
  for (const LiveTrial* run : runs) {
    const nanoseconds used = run->cpu_time().value_or(nanoseconds(0));
    shortest = std::min(shortest, used);
    sum += used;
    first = std::min(first, run->started());
    last = std::max(last, run->ended());
    switches += run->switches();
  }
  const auto now = arrivals_on(runs.front()->lab().roots, runs.front()->lab().placement.trial_cpu);
  for (LiveTrial* run : runs) {
    const nanoseconds used = run->cpu_time().value_or(nanoseconds(0));
    run->note("overlap", used > nanoseconds(0) ? static_cast<double>(shortest.count()) / static_cast<double>(used.count()) : 1);
    run->note("foreign_ns", static_cast<double>(std::max(last - first - sum, nanoseconds(0)).count()));
    if (arrivals && now)
      run->note("foreign_switches", static_cast<double>(std::max<int64_t>(*now - *arrivals - switches, 0)));
  }
}

}  // namespace

std::string spoiled_text(const std::string& failure) { return "another trial of its sliced block came to nothing: " + failure; }

// Every trial is ready before the first one begins, and all begin together. Each is ended as soon as it has: whatever it leaves
// behind would take the others' time. Only where trees are told apart by ancestry is that put off, since what another one has
// left behind can't be told from its own there. Output is read and compared when nothing runs any more.
Result<std::vector<store::Outcome>> ReadyTrial::run_together(std::vector<ReadyTrial>& trials) {
  std::vector<LiveTrial*> runs;
  for (const ReadyTrial& trial : trials) runs.push_back(trial.run_.get());
  for (LiveTrial* run : runs) run->come_into_company();
  const Laboratory& lab = runs.front()->lab();
  std::optional<std::string> spoiled;  // what the first one that came to nothing says
  const auto happened = [&](LiveTrial& run, TrialEvent event) -> Status {
    STAB_CHECK_OK(run.raise(event));
    if (event != TrialEvent::kLaunched && event != TrialEvent::kExited && !spoiled)
      spoiled = spoiled_text(run.failure());
    return {};
  };

  for (LiveTrial* run : runs)
    if (const auto failed = run->get_set()) STAB_CHECK_OK(happened(*run, *failed));
  const std::optional<int64_t> arrivals = arrivals_on(lab.roots, lab.placement.trial_cpu);
  std::vector<LiveTrial*> gone;
  for (LiveTrial* run : runs) {
    if (spoiled) break;
    if (const auto failed = run->send_go()) STAB_CHECK_OK(happened(*run, *failed));
    else gone.push_back(run);
  }
  for (LiveTrial* run : gone) STAB_CHECK_OK(happened(*run, run->see_exec()));
  // From here on a trial without a failure has started, or all of them are spoiled.

  std::vector<Watch> watches;
  if (!spoiled)
    for (LiveTrial* run : runs) watches.push_back(run->watch(runs.size()));
  Status broken;
  STAB_CHECK_OK(wait_for_endings(watches, *lab.clock, [&](size_t i, const Ending& ending) {
    broken = happened(*runs[i], runs[i]->see_end(ending));
    if (broken && lab.tree->kind() != host::TreeKind::kAncestry) broken = runs[i]->go_on(false);
    return broken.ok() && !spoiled;
  }));
  STAB_CHECK_OK(broken);
  const auto spoil_in = [&](std::initializer_list<TrialState> states) -> Status {
    for (LiveTrial* run : runs)
      if (spoiled && std::find(states.begin(), states.end(), run->state()) != states.end()) STAB_CHECK_OK(run->spoil(*spoiled));
    return {};
  };
  STAB_CHECK_OK(spoil_in({TrialState::kClaimed, TrialState::kStarted}));
  for (LiveTrial* run : runs) STAB_CHECK_OK(run->go_on(false));
  if (!spoiled) note_company(runs, arrivals);

  for (LiveTrial* run : runs) STAB_CHECK_OK(run->go_on());
  for (LiveTrial* run : runs)
    if (run->state() != TrialState::kVerified && !spoiled)
      spoiled = spoiled_text(run->failure());
  STAB_CHECK_OK(spoil_in({TrialState::kVerified}));
  std::vector<store::Outcome> outcomes;
  for (LiveTrial* run : runs) outcomes.push_back(run->take_outcome());
  return outcomes;
}

}  // namespace stab::engine
