// recorded_experiment PLAN DATABASE: stores PLAN as an experiment that is done, with made-up results: the same ones each
// time, from the plan's seed. For golden reports and for timing a report on thousands of trials. Where levels differ
// the log times do by (position of the factor) x (position of the level) / 100; each layout adds 1 %, each run 0.4 %.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"
#include "plan/parse.h"
#include "tests/golden/record.h"

namespace {

using namespace stab;

double standard_normal(Rng& rng) {
  return statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52);
}

std::string dose_of(const plan::Layout& layout, Rng& rng) {
  const bool code = layout.code == abi::CodeMode::kShuffle, stack = layout.stack == abi::StackMode::kOn;
  const bool heap = layout.heap != abi::HeapMode::kOff;
  const uint64_t layouts = 40 + rng.below(20);
  char text[700];
  std::snprintf(
      text, sizeof text,
      "{\"abi\":1,\"hello\":true,\"end\":\"exit\",\"settings\":{\"code\":\"%s\",\"stack\":\"%s\",\"heap\":\"%s\",\"epoch_ns\":"
      "20000000,"
      "\"helper\":\"launched\"},\"code\":{\"layouts_built\":%d,\"layouts_executed\":%d,\"functions\":889,\"functions_moved\":%d,"
      "\"not_moved\":{\"foreign\":227,\"returns-twice\":1,\"runtime\":13},\"image_bytes\":269212,\"slots\":22},"
      "\"stack\":{\"slots\":516,\"slots_zeroed\":95,\"refills\":%d},\"heap\":{\"mallocs\":%d,\"bytes\":67151872,"
      "\"mallocs_mmapped\":11,\"bytes_mmapped\":67076096,\"layouts\":%d},\"helper\":{\"cpu_ns\":11860524},\"degradations\":[]}",
      abi::kCodeWords[static_cast<int>(layout.code)], abi::kStackWords[static_cast<int>(layout.stack)],
      abi::kHeapWords[static_cast<int>(layout.heap)], code ? static_cast<int>(layouts) : 0,
      code ? static_cast<int>(layouts) - 2 : 0, code ? 648 : 0, stack ? static_cast<int>(layouts) : 0, heap ? 36900 : 0,
      heap ? static_cast<int>(layouts) : 0);
  return text;
}

Status record(const std::string& plan_path, const std::string& database) {
  STAB_TRY(plan::Parsed parsed, plan::load_plan(plan_path));
  if (!parsed.plan) return bad_input(toml::render(parsed.errors));
  const std::vector<std::string> events = parsed.plan->counters.events;
  STAB_TRY(store::Store store, store::Store::open(database, store::Store::Access::kWrite));
  Rng rng = Rng::stream(parsed.plan->experiment.seed, "recorded experiment");
  std::map<std::pair<int, int>, double> of_link;  // (subject, link): what its layout adds
  const auto made = record_experiment(
      store, std::move(*parsed.plan), [&](const store::TrialRow& trial, const plan::Cell& cell, store::Outcome& outcome) {
        double log_time = std::log(0.5 + 0.05 * trial.subject);
        for (size_t f = 0; f < cell.levels.size(); ++f) log_time += 0.01 * static_cast<double>(f) * cell.levels[f];
        auto [link, fresh] = of_link.try_emplace({trial.subject, trial.link}, 0);
        if (fresh) link->second = 0.01 * standard_normal(rng);
        log_time += cell.fixed_code ? link->second : 0.01 * standard_normal(rng);
        log_time += 0.004 * standard_normal(rng);
        outcome.wall_ns = static_cast<int64_t>(std::llround(1e9 * std::exp(log_time)));
        outcome.user_ns = *outcome.wall_ns - 1'000'000;
        outcome.system_ns = 1'000'000;
        outcome.max_rss_kib = 4000;
        outcome.dose_json = dose_of(cell.layout, rng);
        outcome.ledger["interrupts"] = 40;
        outcome.ledger["minor_faults"] = 300;
        for (const std::string& event : events)
          outcome.responses.push_back({event, std::round(1e3 * std::exp(log_time)), {}, {}, {}, ""});
      });
  if (!made) return made.error();
  return store.put_host_facts(*made, {{"cpu.model", "Made Up 9000"}, {"kernel.release", "6.1.0"}, {"libc", "2.36"}}, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: recorded_experiment PLAN DATABASE\n", stderr);
    return 2;
  }
  const stab::Status done = record(argv[1], argv[2]);
  if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return done ? 0 : 1;
}
