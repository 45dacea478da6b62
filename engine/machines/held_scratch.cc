#include "engine/machines/held_scratch.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>

#include "engine/experiment/places.h"

namespace stab::engine {
namespace {

// Between a folder's making and its lock.
constexpr time_t kMakingSeconds = 60;

bool is_of_a_worker(const std::string& name) { return name.starts_with(kWorkFolders) || name.starts_with(kShareFolders); }

}  // namespace

void remove_abandoned_scratch(const std::string& below) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(below, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    struct stat info;
    if (!is_of_a_worker(at->path().filename().string())) continue;
    if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) continue;
    // One that was made a moment ago is not held yet.
    if (::time(nullptr) - info.st_mtime < kMakingSeconds) continue;
    if (const UniqueFd held = hold_scratch(path)) (void)remove_tree(path);
  }
}

}  // namespace stab::engine
