// init: a plan to begin with, and a gate's file, for the project in this folder. Nothing that is there is replaced unasked, and
// either all files are written or none.
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/absolute_path.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/plan/project_kind.h"
#include "stabctl/terminal/whole_file.h"

namespace stab::ctl {
namespace {

struct InitFile {
  std::string path, text, next;  // next: the command that comes after
};

bool is_there(const std::string& path) {
  std::error_code failed;
  return std::filesystem::symlink_status(path, failed).type() != std::filesystem::file_type::not_found;
}

}  // namespace

int init_command(const Arguments& arguments) {
  if (const auto here = absolute_path("."); !here) return complain(here.error());
  const auto project = project_in(".");
  if (!project) return complain(project.error());
  std::vector<InitFile> files{{"stab.toml", plan_text(*project), "stabctl plan check stab.toml"}};
  if (arguments.gate) {
    files.push_back({"stab-gate.toml", gate_text(*project),
                     std::string("stabctl gate HEAD~1..HEAD") + (project->below_root.empty() ? "" : " --plan stab-gate.toml")});
    // Who has a plan and wants a gate wants to keep the plan.
    if (is_there(files[0].path) && !is_there(files[1].path) && !arguments.force) {
      std::printf("%s is there already, and stays as it is\n", files[0].path.c_str());
      files.erase(files.begin());
    }
  }
  for (const InitFile& file : files) {
    if (is_there(file.path) && !arguments.force)
      return complain(Error{ErrorCode::kBadInput, "'" + file.path + "' is there already; --force replaces it", {}});
    if (const Status writable = check_writable(file.path); !writable) return complain(writable.error());
  }
  for (const InitFile& file : files)
    if (const Status written = write_whole(file.text, file.path); !written) return complain(written.error());
  for (const InitFile& file : files) std::printf("wrote %s for %s\n", file.path.c_str(), project->file.c_str());
  if (project->program_is_guess)
    std::printf("the program's name wasn't found: change 'run = [\"%s\"]' first\n", place_of(*project).c_str());
  std::printf("next:\n");
  for (const InitFile& file : files) std::printf("  %s\n", file.next.c_str());
  return kExitDone;
}

}  // namespace stab::ctl
