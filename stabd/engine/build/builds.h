// Builds: the phase before the trials in which every level combination that the plan's commands name gets its
// own directory and binary.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/design.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/build/laboratory.h"
#include "stabd/host/installation.h"
#include "stabd/engine/separation/places.h"
#include "stabd/engine/separation/worker.h"
#include "stabd/host/launch.h"
#include "store/records.h"

namespace stab::engine {

struct BuildPlace {
  std::string root;            // <database>.files/builds
  std::string plan_directory;  // absolute; relative paths of the plan start here
  host::Installation installation;
  std::optional<host::Submitter> submitter;
  Worker* worker = nullptr;    // does what is done to files of the submitter's
  Give give = chown_to;        // makes a build's directory the submitter's
};

// Directory that commands of this build's trials are looked up in. The same length for every build. The plan's
// own where there is nothing to build and no source.
std::string build_directory(const BuildPlace& place, const std::string& input_hash);
// Its last part.
std::string build_directory_name(const std::string& input_hash);

// True where this build makes a directory at all.
bool needs_directory(const plan::Build& build);

// Everything that goes in, hashed: commands, source tree or commit, patches, compilers and runtime. `commit` is what
// a git source's revision stands for; empty: not known before it is fetched.
Result<std::string> input_hash_of(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                                  const std::string& commit);

// Builds it unless the same inputs have been built before; fills state, input_hash, log and duration_ns of the
// row. The Error is for a broken laboratory; a build that fails is a row in state failed.
Status make_build(const Laboratory& laboratory, const BuildPlace& place, const plan::Program& program,
                  const plan::Build& build, store::BuildRow& row);

// The file that `name`, the first word of a command, means: with a slash below the build's directory or the
// plan's, without one in the search path of measured programs. kNotFound says where it was looked for. A file
// of the build's that may not be executed is an Error, whatever the plan's directory has.
Result<std::string> find_program(const BuildPlace& place, const std::string& directory, const std::string& name);

// SHA-256 of a regular file, as the worker reads it.
Result<std::string> hash_of(Worker& worker, const std::string& path);

// Where a file that the plan names may be, the first that can be read: absolute, below the plan's directory, or below
// the build's.
std::vector<std::string> input_paths(const BuildPlace& place, const std::string& directory, const std::string& name);

// First executable of that name in a colon-separated path.
Result<std::string> find_in_path(Worker& worker, const std::string& path, const std::string& name);

// PATH of measured programs and of commands around them.
inline constexpr char kSearchPath[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace stab::engine
