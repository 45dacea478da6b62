// What a folder's project is built by, so far as its files tell, and the plan that builds it with szc.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace stab::ctl {

enum class BuildTool { kCmake, kMeson, kConfigure, kMake, kCargo, kGo };

struct Project {
  BuildTool tool = BuildTool::kMake;
  std::string file;     // that told: "CMakeLists.txt"
  std::string name;     // of its experiment: the folder's, in letters that a plan takes
  std::string program;  // what it builds, relative to the folder: found in `file`, or else named as the folder
  bool program_is_guess = false;
  bool has_parent = false;  // the folder is the root of a git repository that has at least two commits
  std::string below_root;   // where the folder lies in its git repository: "libs/parser"; empty: it is the root, or in none
};

// kNotFound: none of the files that tell is there.
Result<Project> project_in(const std::string& folder);

// Where its tool puts the program, from the folder: "./build/tool".
std::string place_of(const Project& project);

// Commented plans that 'stabctl plan check' and 'stabctl gate' take.
std::string plan_text(const Project& project);
std::string gate_text(const Project& project);

}  // namespace stab::ctl
