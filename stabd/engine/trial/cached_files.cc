#include "stabd/engine/trial/cached_files.h"

namespace stab::engine {
namespace {

bool was_killed(const Error& error) { return error.code == ErrorCode::kSystem || error.code == ErrorCode::kUnavailable; }

}  // namespace

void look_at_files(Worker& worker, const std::vector<std::string>& paths, SeenFiles& seen) {
  for (const std::string& path : paths) {
    if (seen.count(path) > 0) continue;
    const auto one = worker.ask(worker::Look{path});
    if (one.ok()) seen[path] = *one;
    else if (was_killed(one.error())) return;
  }
}

bool read_files_anew(Worker& worker, const SeenFiles& files) {
  for (const auto& [path, seen] : files) {
    const auto read = worker.ask(worker::ReadAnew{path, seen.bytes});
    if (!read.ok() && was_killed(read.error())) return false;
  }
  return true;
}

}  // namespace stab::engine
