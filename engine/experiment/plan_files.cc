// The daemon's loop takes a plan without asking what it names: a directory on a network that is gone would stop the loop for
// everybody. The engine asks when it is the plan's turn.
#include "engine/experiment/plan_files.h"

#include "engine/experiment/builds.h"

namespace stab::engine {

worker::Look::Answer PlanFiles::look(const std::string& path) const {
  if (failure_) return {};
  const auto seen = worker_->ask(worker::Look{path.starts_with('/') ? path : directory_ + "/" + path});
  if (seen) return *seen;
  failure_ = seen.error();
  return {};
}

bool PlanFiles::file_exists(const std::string& path) const {
  return look(path).type == static_cast<uint32_t>(worker::FileType::kRegular);
}

bool PlanFiles::directory_exists(const std::string& path) const {
  return look(path).type == static_cast<uint32_t>(worker::FileType::kDirectory);
}

bool PlanFiles::command_exists(const std::string& name) const {
  if (name.find('/') != std::string::npos) {
    const worker::Look::Answer seen = look(name);
    return seen.type == static_cast<uint32_t>(worker::FileType::kRegular) && seen.executable;
  }
  if (failure_) return false;
  const Result<std::string> found = find_in_path(*worker_, search_path_, name);
  if (!found && found.error().code != ErrorCode::kNotFound) failure_ = found.error();
  return found.ok();
}

}  // namespace stab::engine
