// git, as a program that answers.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stab::ctl {

// What git answers in the working directory, whole and without the line's end; an Error with git's own words where it fails, and
// one where its answer is longer than 16 MiB. Its warnings, such as of a home directory that it may not read, are no part of the
// answer.
Result<std::string> git(std::vector<std::string> words);

}  // namespace stab::ctl
