// The text of a plan about one workload of a larger one, for experiments of their own with it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace stab::ctl {

// The workload of this name; of an empty name the only one. kBadInput: there is none, or there are several; with their names.
// `where`: the plan, in messages.
Result<plan::Subject> chosen_workload(const plan::Plan& plan, const std::string& name, const std::string& where);

// Of a name that nothing has: the one that was meant, if one is close, and all that there are.
std::string what_there_is(const std::string& word, const std::vector<std::string>& known);

// What `text` says of this workload, its program and the machine that it runs on, its lines where they were: all of a plan but
// [experiment] and [factors]. `plan`: of the same programs, in the same order.
Result<std::string> text_of_workload(const std::string& text, const plan::Plan& plan, const plan::Subject& workload);

// A text of one program whose runs may take so long, "24h", whatever it says itself.
Result<std::string> with_timeout(const std::string& text, const std::string& timeout);

// A text of one program with this layout script for it. pre: it has none
Result<std::string> with_layout_script(const std::string& text, const std::string& script);

}  // namespace stab::ctl
