// A build's source out of a git repository: which commit a revision means, and a clone at it, with its submodules.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/engine/build/build_step.h"

namespace stab::engine {

// A URL; all else is the path of a repository.
bool is_git_address(const std::string& git);

// The commit that a revision means in this repository now, asked of git itself. Nothing: git knows none, and `words`
// says why.
Result<std::optional<std::string>> commit_named(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                                                const std::string& repository, const std::string& revision, std::string& words);

// `words` are git's own.
void say_no_commit(const plan::Source& source, const std::string& words, store::BuildRow& row);

// Clones the source into `directory` at the commit; without one, of a repository elsewhere, at what its revision means there.
// Submodules come from where the repository on this machine has them checked out, if that has their commit, else from their
// address, which is relative to the repository's own origin (gitsubmodules(7)). A link to a commit that .gitmodules doesn't name
// stays an empty directory. False: it failed or was stopped, and the row's log says so.
Result<bool> fetch_git(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, std::string commit,
                       const std::string& directory, store::BuildRow& row);

}  // namespace stab::engine
