// Strictness: for which factors a link has to give a program something to randomize, or fail.
#pragma once

#include <string>

#include "base/result.h"
#include "instrumenter/driver/command_line.h"
#include "instrumenter/driver/link_job.h"
#include "instrumenter/postlink/factors.h"

namespace stab::driver {

// Of the link of `output`: what --stab-strict says, or STAB_LINK_STRICT, which STAB_LINK_PROGRAM, names of files with colons
// between them, keeps from whatever else a build links: its own tools, the tests of a configure script. Fails on words that it
// doesn't know.
Result<postlink::Factors> strictness_of(const CommandLine& line, const std::string& output);

// Why no post-link step comes to the program that `job` links, nor can; empty: one does, or the output is no program. Of a
// library the code stays anyway.
std::string why_not_processed(const LinkJob& job);

}  // namespace stab::driver
