// The daemon's loop takes a plan without asking what it names: a directory on a network that is gone would stop the loop for
// everybody. The engine asks when it is the plan's turn.
#include "stabd/engine/build/plan_files.h"

#include "stabd/engine/build/builds.h"

namespace stab::engine {

plan::FileKind PlanFiles::look(const std::string& path) const {
  if (failure_) return plan::FileKind::kAbsent;
  const auto seen = worker_->ask(worker::Look{path.starts_with('/') ? path : directory_ + "/" + path});
  if (!seen) {
    failure_ = seen.error();
    return plan::FileKind::kAbsent;
  }
  switch (static_cast<worker::FileType>(seen->type)) {
    case worker::FileType::kRegular: return seen->executable ? plan::FileKind::kProgram : plan::FileKind::kFile;
    case worker::FileType::kDirectory: return plan::FileKind::kDirectory;
    case worker::FileType::kOther: return plan::FileKind::kOther;
    case worker::FileType::kAbsent: break;
  }
  return plan::FileKind::kAbsent;
}

bool PlanFiles::is_in_path(const std::string& name) const {
  if (failure_) return false;
  const Result<std::string> found = find_in_path(*worker_, search_path_, name);
  if (!found && found.error().code != ErrorCode::kNotFound) failure_ = found.error();
  return found.ok();
}

}  // namespace stab::engine
