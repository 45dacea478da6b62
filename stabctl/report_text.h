// The report of one experiment, on stdout.
#pragma once

#include "stabctl/arguments.h"
#include "store/store.h"

namespace stab::ctl {

// Returns the exit code.
int print_report(store::Store& store, store::Id experiment, const Arguments& arguments);

}  // namespace stab::ctl
