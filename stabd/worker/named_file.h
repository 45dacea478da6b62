// Files that somebody else has named, in a plan or by making them, opened so that nobody can make us wait.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::worker {

// For reading. kBadInput where it is no regular file; what is read afterwards never waits for a writer.
Result<UniqueFd> open_regular_file(const std::string& path);
// The same for a program's standard input, which may also be /dev/null and its kin.
Result<UniqueFd> open_input(const std::string& path);

// Why a descriptor of this file must be nobody else's: its file system is a process of a user's, who may not answer when it
// is closed, and whoever closes it then waits and can't be killed. Empty: it may be passed on. O_PATH is enough.
std::string why_not_passed_on(int fd);

// /dev/null, zero, full, random or urandom, by whatever name: what they give is nobody's secret.
bool is_endless_device(mode_t mode, dev_t device);

}  // namespace stab::worker
