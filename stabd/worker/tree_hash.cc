// Sorted, so that the order in which a file system lists its files doesn't matter. What this hashes and how is part of
// every build's name (stabd/engine/build/builds.cc): a change makes everybody build again.
#include "stabd/worker/tree_hash.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "stabd/worker/sha256.h"

namespace stab::worker {

namespace fs = std::filesystem;

Result<std::string> hash_of_tree(const std::string& root, Budget& budget) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    STAB_CHECK_OK(budget.take_file(at->path().string()));
    if (!at->is_directory(error)) files.push_back(at->path().string());
  }
  if (error) return system_error("read source directory '" + root + "'", error.value());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string& file : files) {
    struct stat info;
    if (::lstat(file.c_str(), &info) != 0) return system_error("stat '" + file + "'", errno);
    std::string content;
    if (S_ISLNK(info.st_mode)) {
      content = fs::read_symlink(file, error).string();
    } else if (S_ISREG(info.st_mode)) {
      STAB_CHECK_OK(budget.take_bytes(file, static_cast<uint64_t>(info.st_size)));
      STAB_TRY(content, sha256_of_file(file));
    }
    const std::string value = std::to_string(info.st_mode) + " " + content;
    all += file.substr(root.size()) + "=" + std::to_string(value.size()) + ":" + value + "\n";
  }
  return sha256(all);
}

}  // namespace stab::worker
