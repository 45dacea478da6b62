// layout samples: where the CPU time of one trial was spent, by function.
#include <cinttypes>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/recorded_trial.h"
#include "stabctl/terminal/csv_text.h"
#include "stabd/engine/results/trial_samples.h"

namespace stab::ctl {
namespace {

using Json = nlohmann::ordered_json;

void print_json(const engine::TrialSamples& samples, int64_t trial) {
  Json functions = Json::array();
  for (const engine::FunctionSampled& one : samples.functions)
    functions.push_back({{"name", one.name},
                         {"samples", one.samples()},
                         {"newest", one.newest},
                         {"older", one.older},
                         {"original", one.original}});
  const Json all = {{"format", "stab-function-samples"}, {"version", 1},           {"trial", trial},
                    {"period_ns", samples.period_ns},    {"samples", samples.all}, {"kernel", samples.kernel},
                    {"elsewhere", samples.elsewhere},    {"lost", samples.lost},   {"functions", std::move(functions)}};
  std::printf("%s\n", all.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_csv(const engine::TrialSamples& samples) {
  std::printf("samples,newest,older,original,name\n");
  for (const engine::FunctionSampled& one : samples.functions)
    std::printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n", one.samples(), one.newest, one.older, one.original,
                csv_text(one.name).c_str());
}

void print_text(const engine::TrialSamples& samples, int64_t trial) {
  std::printf("trial %" PRId64 ": %" PRIu64 " samples of its CPU time, one in %g ms%s\n", trial, samples.all,
              static_cast<double>(samples.period_ns) * 1e-6,
              samples.lost > 0 ? (", " + std::to_string(samples.lost) + " more were lost").c_str() : "");
  std::printf("%8s %8s %8s %8s %8s  %s\n", "share %", "samples", "newest", "older", "original", "function");
  const auto share = [&](uint64_t count) {
    return samples.all > 0 ? 100 * static_cast<double>(count) / static_cast<double>(samples.all) : 0;
  };
  for (const engine::FunctionSampled& one : samples.functions)
    std::printf("%8.2f %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "  %s\n", share(one.samples()), one.samples(),
                one.newest, one.older, one.original, printable(one.name).c_str());
  if (samples.kernel > 0) std::printf("%8.2f %8" PRIu64 " %28s in the kernel\n", share(samples.kernel), samples.kernel, "");
  if (samples.elsewhere > 0)
    std::printf("%8.2f %8" PRIu64 " %28s in no function and no file\n", share(samples.elsewhere), samples.elsewhere, "");
}

}  // namespace

int layout_samples_command(const Arguments& arguments) {
  auto of = recorded_trial(arguments);
  if (!of) return complain(of.error());
  const auto samples = engine::samples_of(of->store, arguments.trial, of->tool, of->archive);
  if (!samples) return complain(samples.error());
  if (arguments.json)
    print_json(*samples, arguments.trial);
  else if (arguments.format == "csv")
    print_csv(*samples);
  else
    print_text(*samples, arguments.trial);
  return kExitDone;
}

}  // namespace stab::ctl
