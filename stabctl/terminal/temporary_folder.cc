// It is held by a lock for as long as it is used, so that the next command of this user's removes what a killed one has left.
#include "stabctl/terminal/temporary_folder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/printable.h"
#include "base/trusted_folder.h"
#include "stabd/engine/separation/leftovers.h"
#include "stabd/engine/separation/places.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {"gate", "explain", "nightly", "selftest", "import", "report", "ssh"};  // of TemporaryPurpose

std::string prefix_of(TemporaryPurpose purpose) { return std::string("stab-") + kNames[static_cast<size_t>(purpose)] + "-"; }

// A folder of a command of ours that is no more: nobody holds it.
UniqueFd hold_left(const std::string& path) {
  constexpr size_t kDrawn = 6;
  const std::string name = fs::path(path).filename();
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const auto purpose = static_cast<TemporaryPurpose>(i);
    const std::string prefix = prefix_of(purpose);
    if (purpose == TemporaryPurpose::kSelftest) continue;
    if (name.starts_with(prefix) && name.size() == prefix.size() + kDrawn) return engine::hold_scratch(path);
  }
  return {};
}

void remove_left(const std::string& below) {
  const std::string stays = engine::remove_held({below}, "commands", hold_left, engine::remove_tree, {});
  if (!stays.empty()) std::fprintf(stderr, "note: %s\n", printable(stays).c_str());
}

}  // namespace

// By the names that fs::temp_directory_path knows; an empty one is as none, as it is to mktemp and to shells.
std::string temporary_place() {
  for (const char* const variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (const char* const value = std::getenv(variable); value && *value) return value;
  return "/tmp";
}

Result<TemporaryFolder> TemporaryFolder::make(TemporaryPurpose purpose) {
  const fs::path below = temporary_place();
  std::error_code missing;
  if (!fs::is_directory(below, missing)) {
    if (!missing) missing = std::make_error_code(std::errc::not_a_directory);
    return Error{ErrorCode::kSystem,
                 "no temporary folder: '" + below.string() + "': " + missing.message() + "; set TMPDIR to one that is there",
                 {}};
  }
  std::string path = (below / (prefix_of(purpose) + "XXXXXX")).string();
  const std::string folder = fs::path(path).parent_path().string();
  if (const Status trusted = check_trusted_folder(folder); !trusted)
    return Error{trusted.error().code, trusted.error().message + "; set TMPDIR to a folder of yours", {}};
  remove_left(folder);
  Result<UniqueFd> held = engine::make_scratch(path);
  if (!held) return Error{held.error().code, held.error().message + "; set TMPDIR to a folder with space", {}};
  return TemporaryFolder(path, *std::move(held));
}

// A build may leave directories that nobody may write into, such as Go's cache of modules.
TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  if (const Status removed = engine::remove_tree(path_); !removed)
    std::fprintf(stderr, "stabctl: '%s' stays: %s\n", printable(path_).c_str(), printable(removed.error().text()).c_str());
}

}  // namespace stab::ctl
