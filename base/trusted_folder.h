// TrustedFolder: a folder that a path goes on naming, whatever others do.
//
// To look at the last folder of a path is not enough: whoever may rename one above it puts another in its place after the look.
// So a path is walked from the root, each folder opened below the one before without following a link, and each looked at by
// its descriptor:
//
//   its owner is root or we              (or whoever owns "/": in a user namespace root's number is another)
//   others can't write into it           or it is sticky, so that they can't rename what is root's or ours
//   a link is followed where root or we have made it
//
// A group that has its user's name and no other member, as many systems give each user one, is not others.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab {

// The folder, open for reading. kDenied names the folder on the way that others could exchange, and the cure. `too`: a user who
// is believed as we are, whose links are not followed.
Result<UniqueFd> open_trusted_folder(const std::string& path, std::optional<uid_t> too = {});
Status check_trusted_folder(const std::string& path);

}  // namespace stab
