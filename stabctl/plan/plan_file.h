// A plan as the user wrote it, or its faults on stderr.
#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"

namespace stab::ctl {

struct PlanFile {
  std::optional<plan::Plan> plan;  // empty: the faults were shown, exit with exit_code
  int exit_code = 0;
  std::string directory;           // absolute; relative paths of the plan start here
};
PlanFile read_plan(const std::string& path);
// On stderr, for who is about to run it: that it will have no answer, and what to write instead.
void note_no_answer(const plan::Plan& plan);

}  // namespace stab::ctl
