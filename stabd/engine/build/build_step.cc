#include "stabd/engine/build/build_step.h"

#include <cstdlib>
#include <utility>

#include "stabd/engine/build/command.h"

namespace stab::engine {

std::string absolute(const BuildPlace& place, const std::string& path) {
  return path.empty() || path[0] == '/' ? path : place.plan_directory + "/" + path;
}

std::string layout_file_path(const std::string& directory) { return directory + ".layout"; }

host::LaunchRequest command_request(const BuildPlace& place, const plan::Build& build, const std::string& directory,
                                    std::vector<std::string> argv) {
  host::LaunchRequest request;
  request.directory = directory;
  request.argv = std::move(argv);
  request.submitter = place.submitter;
  const char* home = place.submitter ? nullptr : ::getenv("HOME");
  request.env = {"PATH=" + place.installation.bin + ":" + kSearchPath, "LC_ALL=C.UTF-8",
                 "HOME=" + std::string(home != nullptr ? home : "/nonexistent"), "PLAN_DIR=" + place.plan_directory,
                 "LINK=" + std::to_string(build.link)};
  if (!build.layout_file.empty()) request.env.push_back("STAB_LINK_LAYOUT=" + layout_file_path(directory));
  // Of what is measured alone: a build's own tools and the tests of its configure script need nothing that moves. What is
  // linked differs in nothing, so an input hash doesn't have it; a build of before is held to the same by its trials' doses.
  if (!build.strict.empty()) {
    request.env.push_back("STAB_LINK_STRICT=" + build.strict);
    request.env.push_back("STAB_LINK_PROGRAM=" + build.measured);
  }
  // The drivers shuffle the link order by it; 0 is the order as given.
  if (build.link_seed != 0) request.env.push_back("STAB_LINK_SEED=" + std::to_string(build.link_seed));
  return request;
}

namespace {

// As run_step(); what it printed, where it went well.
Result<std::optional<CommandOutput>> run_one(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                                             const std::string& directory, const std::vector<std::string>& argv,
                                             std::chrono::nanoseconds timeout, Stdout out, store::BuildRow& row) {
  host::LaunchRequest request = command_request(place, build, directory, argv);
  const std::string& name = argv[0];
  if (name.find('/') != std::string::npos) {
    request.exec_path = name[0] == '/' ? name : directory + "/" + name;
  } else {
    const auto found = find_in_path(*place.worker, place.installation.bin + ":" + kSearchPath, name);
    if (!found && found.error().code != ErrorCode::kNotFound) return found.error();
    if (!found) {
      row.log += found.error().message + "\n";
      return std::optional<CommandOutput>();
    }
    request.exec_path = *found;
  }
  STAB_TRY(CommandOutput output, run_command(laboratory, request, timeout, out));
  row.log += output.log;
  row.duration_ns += output.duration.count();
  if (output.ok) return std::optional(std::move(output));
  row.log += "\n" + name + ": " + output.failure + "\n";
  return std::optional<CommandOutput>();
}

}  // namespace

Result<bool> run_step(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                      const std::string& directory, const std::vector<std::string>& argv, std::chrono::nanoseconds timeout,
                      store::BuildRow& row) {
  STAB_TRY(const std::optional<CommandOutput> output,
           run_one(laboratory, place, build, directory, argv, timeout, Stdout::kInLog, row));
  return output.has_value();
}

Result<std::optional<std::string>> ask_step(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                                            const std::string& directory, const std::vector<std::string>& argv,
                                            std::chrono::nanoseconds timeout, store::BuildRow& row) {
  STAB_TRY(std::optional<CommandOutput> output, run_one(laboratory, place, build, directory, argv, timeout, Stdout::kApart, row));
  if (!output) return std::optional<std::string>();
  return std::optional(std::move(output->answer));
}

}  // namespace stab::engine
