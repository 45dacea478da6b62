// stabctl: parse, run one command, exit. What a command does is in the file of its name.
#include <string_view>
#include <vector>

#include "stabctl/analysis_commands.h"
#include "stabctl/arguments.h"
#include "stabctl/commands.h"

namespace {

int dispatch(const stab::ctl::Arguments& arguments) {
  using stab::ctl::Command;
  switch (arguments.command) {
    case Command::kPlanCheck: return plan_check_command(arguments);
    case Command::kPlanPower: return plan_power_command(arguments);
    case Command::kRun: return run_command(arguments);
    case Command::kResume: return resume_command(arguments);
    case Command::kExtend: return extend_command(arguments);
    case Command::kReplay: return replay_command(arguments);
    case Command::kRerun: return rerun_command(arguments);
    case Command::kDelete: return delete_command(arguments);
    case Command::kLogs: return logs_command(arguments);
    case Command::kDbCheck: return db_check_command(arguments);
    case Command::kDbBackup: return db_backup_command(arguments);
    case Command::kDbVacuum: return db_vacuum_command(arguments);
    case Command::kReport: return report_command(arguments);
    case Command::kList: return list_command(arguments);
    case Command::kCompare: return compare_command(arguments);
    case Command::kSelftest: return selftest_command(arguments);
    case Command::kDoctor: return doctor_command(arguments);
    case Command::kMachineShow: return machine_show_command(arguments);
    case Command::kMachineTune: return machine_tune_command(arguments);
    case Command::kMachineRestore: return machine_restore_command(arguments);
    case Command::kSubmit: return submit_command(arguments);
    case Command::kStatus: return status_command(arguments);
    case Command::kWatch: return watch_command(arguments);
    case Command::kPause: return pause_command(arguments);
    case Command::kCancel: return cancel_command(arguments);
    case Command::kPriority: return priority_command(arguments);
    case Command::kBundle: return bundle_command(arguments);
  }
  return stab::ctl::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  // These two work on CSV files alone and parse their own words.
  const std::string_view word = argc > 1 ? argv[1] : "";
  const std::vector<std::string> rest(argv + (argc > 2 ? 2 : argc), argv + argc);
  if (word == "stats") return stab::ctl::stats_command(rest);
  if (word == "analyze") return stab::ctl::analyze_command(rest);

  const stab::ctl::ParsedArguments parsed = stab::ctl::parse_arguments(argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  return dispatch(parsed.arguments);
}
