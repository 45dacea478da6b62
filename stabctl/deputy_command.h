// deputy: what a daemon starts as the submitter of a plan with [machines].
#pragma once

namespace stab::ctl {

struct Arguments;
int deputy_command(const Arguments& arguments);

}  // namespace stab::ctl
