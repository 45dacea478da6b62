// What a trial is born with: memory files for its output, its standard input, its environment.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/engine/separation/worker.h"
#include "stabd/engine/trial/trial_run.h"

namespace stab::engine {

Result<UniqueFd> memory_file(const char* name);
// For the helper, which may rely on its length: nobody changes it any more.
Result<UniqueFd> script_file(const TrialRequest& request);
// The first of these files that can be read, opened by the worker as the submitter; none named: /dev/null.
Result<UniqueFd> open_input(Worker* worker, const std::vector<std::string>& paths);
// The request's, and what the runtime is told in it; as long in every cell of a workload, but for env_size.
std::vector<std::string> full_environment(const TrialRequest& request, int helper_cpu, bool helper);

}  // namespace stab::engine
