#include "stabctl/selftest/selftest_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "plan/parse.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabctl/run/run_command.h"
#include "stabctl/terminal/temporary_folder.h"

namespace stab::ctl {
namespace {

Status write_program(const std::string& folder, const std::string& source) {
  std::error_code made;
  std::filesystem::create_directory(folder + "/source", made);
  const std::string path = folder + "/source/work.c";
  std::ofstream file(path);
  file << source << std::flush;
  if (!file) return Error{ErrorCode::kSystem, "can't write '" + path + "'; set TMPDIR to a folder with space", {}};
  return {};
}

}  // namespace

int comparisons_of(const Arguments& arguments, double seconds_of_one) {
  if (arguments.comparisons > 0) return arguments.comparisons;
  return std::max(2, static_cast<int>(60 * arguments.minutes / seconds_of_one));
}

int run_selftest(const Selftest& selftest, const Arguments& arguments) {
  engine::StopSignal stop;
  const CaughtInterrupts caught(stop);
  // The program's: gone with us unless the experiment still needs it.
  auto folder = TemporaryFolder::make(TemporaryPurpose::kSelftest);
  if (!folder) return complain_of_no_answer(folder.error());
  if (const Status written = write_program(folder->path(), selftest.source); !written)
    return complain_of_no_answer(written.error());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seed = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  const plan::Parsed parsed = plan::parse_plan(selftest.plan(seed), selftest.plan_name);
  if (!parsed.plan)
    return complain_of_no_answer({ErrorCode::kInternal, "the selftest's own plan is wrong:\n" + toml::render(parsed.errors), {}});

  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain_of_no_answer(engine.error());
  const auto experiment = (*engine)->submit(*parsed.plan, folder->path(), ::geteuid(), ::getegid());
  if (!experiment) return complain_of_no_answer(experiment.error());
  bool is_alarmed = false;
  const int code = run_to_end(**engine, *experiment, arguments, clock, [&](store::Store& store, store::Id id) {
    const auto row = store.experiment(id);
    const int judged = row ? selftest.judge(store, *row) : complain_of_no_answer(row.error());
    is_alarmed = judged == kExitFailed;
    return judged;
  }, &stop);
  if (code == kExitFailed && !is_alarmed) return kExitUsage;  // a build, a trial: the rate is not known
  if (code != kExitUnfinished || arguments.is_database_temporary) return code;
  folder->keep();  // resume builds what is still to be built from it
  std::fprintf(stderr, "then its rate: stabctl selftest --experiment %lld%s\n", static_cast<long long>(*experiment),
               database_option(arguments).c_str());
  return code;
}

}  // namespace stab::ctl
