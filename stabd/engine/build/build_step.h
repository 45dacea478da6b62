// One step of a build: a command of the plan's or one of ours, run as the submitter in the build's directory, with its output in
// the build's log.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/design.h"
#include "stabd/engine/build/builds.h"
#include "stabd/engine/build/laboratory.h"
#include "stabd/host/launch.h"
#include "store/records.h"

namespace stab::engine {

// What is copied or cloned may take so long, each.
inline constexpr std::chrono::minutes kFetchTimeout{10};

// A path of the plan's.
std::string absolute(const BuildPlace& place, const std::string& path);

// Beside the build's directory, so that no source has it or can change it.
std::string layout_file_path(const std::string& directory);

// With the environment that all of a build's commands have.
host::LaunchRequest command_request(const BuildPlace& place, const plan::Build& build, const std::string& directory,
                              std::vector<std::string> argv);

// Runs it and appends what it prints to the row's log. False: it failed or was stopped, and the log says so.
Result<bool> run_step(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                      const std::string& directory, const std::vector<std::string>& argv, std::chrono::nanoseconds timeout,
                      store::BuildRow& row);
// The same of a question: what it prints to standard output is its answer and not logged. Nothing: as false above; a question
// that failed has no answer, which an empty one would be.
Result<std::optional<std::string>> ask_step(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                                            const std::string& directory, const std::vector<std::string>& argv,
                                            std::chrono::nanoseconds timeout, store::BuildRow& row);

}  // namespace stab::engine
