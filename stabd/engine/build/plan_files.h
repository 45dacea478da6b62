// PlanFiles: which files there are, for whoever submitted the plan.
#pragma once

#include <optional>
#include <string>

#include "plan/parse.h"
#include "stabd/engine/separation/worker.h"

namespace stab::engine {

// Looks below the plan's directory through the worker. Commands are searched in `search_path`.
class PlanFiles final : public plan::FileLookup {
 public:
  PlanFiles(Worker& worker, std::string directory, std::string search_path)
      : worker_(&worker), directory_(std::move(directory)), search_path_(std::move(search_path)) {}
  plan::FileKind look(const std::string& path) const override;
  bool is_in_path(const std::string& name) const override;

  // The first time that the worker could not say; what was asked since is absent.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  Worker* worker_;
  std::string directory_, search_path_;
  mutable std::optional<Error> failure_;
};

}  // namespace stab::engine
