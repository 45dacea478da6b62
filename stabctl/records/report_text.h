// The report of one experiment, on stdout.
#pragma once

#include "analysis/commands/answers/command_output.h"
#include "stabctl/command_line/arguments.h"
#include "store/store.h"

namespace stab::ctl {

// `page`: where its page is; empty: not written. Returns the exit code.
int print_report(store::Store& store, store::Id experiment, const Arguments& arguments, const std::string& page);

// Whether the experiment was rejected before it had a trial: then standard error has been told why, and there is no report.
bool says_rejected(store::Store& store, const store::ExperimentRow& row);

// As these arguments ask for it; where its page is isn't known yet.
commands::ReportOptions options_of(const Arguments& arguments);

// Whether the report that these arguments ask for is the first screen, which names the page and the tables itself.
bool wants_first_screen(const Arguments& arguments);

}  // namespace stab::ctl
