// git, as a program that answers.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stab::ctl {

// What git answers in the working directory, without the line's end; an Error with git's own words where it fails. Its warnings,
// such as of a home directory that it may not read, are no part of the answer.
Result<std::string> git(std::vector<std::string> words);

}  // namespace stab::ctl
