// The two sides of `stabctl explain`: two programs, or two revisions of a repository.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "stabctl/arguments.h"
#include "stabctl/explain_plan.h"
#include "stabctl/temporary_folder.h"
#include "stabd/engine/results/layout_tool.h"

namespace stab::ctl {

struct ExplainedSides {
  ExplainedBuilds builds;
  std::string old_name, new_name;              // for people
  std::string command;                         // what was typed, without how long it may take and where trials are kept
  bool are_built_here = false;                 // by the experiment: whether their functions can be moved is known only then
  std::string cure;                            // of a build of another compiler's: how szc builds it
  std::optional<TemporaryFolder> copies = {};  // of programs
};

// kBadInput: the words name no such sides, with what to write instead.
Result<ExplainedSides> explained_sides(const Arguments& arguments);

// Whether functions of this program can be moved. kBadInput: they can't; `shown`: what to call it, `cure`: how szc builds it.
Status must_move(const std::string& path, const std::string& shown, const std::string& cure, const engine::LayoutTool& tool);

}  // namespace stab::ctl
