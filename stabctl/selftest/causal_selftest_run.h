// The selftest of causal profiles (stabctl selftest causal).
#pragma once

#include "stabctl/command_line/arguments.h"
#include "store/store.h"

namespace stab::ctl {

int causal_selftest(const Arguments& arguments);

// Whether a recorded experiment is one of these.
bool is_causal_selftest(const store::ExperimentRow& row);
int judge_causal_selftest(store::Store& store, const store::ExperimentRow& row, const Arguments& arguments);

}  // namespace stab::ctl
