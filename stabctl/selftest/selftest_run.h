// An experiment that a selftest makes of itself: its program, its plan, its run, and what it says at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "stabctl/command_line/arguments.h"
#include "store/store.h"

namespace stab::ctl {

struct Selftest {
  std::string source;                              // of work.c, in folder source/ beside the plan
  std::string plan_name;                           // in messages about it
  std::function<std::string(uint64_t seed)> plan;  // another seed each time, or a second one would say what the first did
  std::function<int(store::Store& store, const store::ExperimentRow& row)> judge;
};
// How many comparisons the user wants: as many as asked for, or as fit into the minutes if one takes so many seconds.
int comparisons_of(const Arguments& arguments, double seconds_of_one);
// The exit code.
int run_selftest(const Selftest& selftest, const Arguments& arguments);

}  // namespace stab::ctl
