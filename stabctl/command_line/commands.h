// One function a command; each prints and returns the exit code (complain.h).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/terminal/complain.h"

namespace stab::ctl {

int plan_check_command(const Arguments& arguments);
int plan_power_command(const Arguments& arguments);
int run_command(const Arguments& arguments);
int work_command(const Arguments& arguments);
int deputy_command(const Arguments& arguments);
int resume_command(const Arguments& arguments);
int extend_command(const Arguments& arguments);
int replay_command(const Arguments& arguments);
int daemon_replay_command(const Arguments& arguments);
int rerun_command(const Arguments& arguments);
int layout_show_command(const Arguments& arguments);
int layout_epochs_command(const Arguments& arguments);
int layout_samples_command(const Arguments& arguments);
int layout_map_command(const Arguments& arguments);
int layout_emit_command(const Arguments& arguments);
int layout_verify_command(const Arguments& arguments);
int delete_command(const Arguments& arguments);
int logs_command(const Arguments& arguments);
int output_command(const Arguments& arguments);
int db_check_command(const Arguments& arguments);
int db_backup_command(const Arguments& arguments);
int db_vacuum_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int verify_command(const Arguments& arguments);
int list_command(const Arguments& arguments);
int compare_command(const Arguments& arguments);
int time_command(const Arguments& arguments);
int explain_command(const Arguments& arguments);
int verdict_command(const Arguments& arguments);
int trend_command(const Arguments& arguments);
int import_command(const Arguments& arguments);
int init_command(const Arguments& arguments);
int export_command(const Arguments& arguments);
int gate_command(const Arguments& arguments);
int bisect_command(const Arguments& arguments);
int causal_command(const Arguments& arguments);
int selftest_command(const Arguments& arguments);
int doctor_command(const Arguments& arguments);
int machine_show_command(const Arguments& arguments);
int machine_tune_command(const Arguments& arguments);
int machine_restore_command(const Arguments& arguments);
int submit_command(const Arguments& arguments);
int status_command(const Arguments& arguments);
int watch_command(const Arguments& arguments);
int cancel_command(const Arguments& arguments);
int pause_command(const Arguments& arguments);
int web_command(const Arguments& arguments);
int bundle_command(const Arguments& arguments);
int daemon_bundle_command(const Arguments& arguments);
int completion_command(const Arguments& arguments);
int priority_command(const Arguments& arguments);
int daemon_logs_command(const Arguments& arguments);
int daemon_rerun_command(const Arguments& arguments);
int daemon_delete_command(const Arguments& arguments);
int daemon_resume_command(const Arguments& arguments);
int daemon_extend_command(const Arguments& arguments);

// `args`: what follows the word on the command line; the flags of stats depend on the method.
int stats_command(const std::vector<std::string>& args);
int analyze_command(const std::vector<std::string>& args);

}  // namespace stab::ctl
