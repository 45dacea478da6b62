// The two sides of `stabctl explain`: two programs, two revisions of a repository, or two levels of a recorded experiment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/explain/explain_plan.h"
#include "stabctl/terminal/temporary_folder.h"
#include "stabd/engine/results/layout_tool.h"

namespace stab::ctl {

// What a build was that an experiment has recorded.
struct RecordedBuild {
  std::string shown;       // "opt=-O3"
  std::string input_hash;  // of all that goes into it; empty: nothing is built
  std::string sha256;      // of its program; empty: not known
};

struct ExplainedSides {
  ExplainedBuilds builds;
  std::string old_name, new_name;              // for people
  std::string command;                         // typed_explain()
  bool are_built_here = false;                 // by the experiment: whether their functions can be moved is known only then
  std::string wall_command;                    // what compares their wall time: "stabctl compare ./old ./new compares it"
  // What measures a build with a layout file, of the new program or else of the old one; empty: 'layout verify' builds it.
  std::function<std::string(bool is_new)> verify_command = {};
  std::string cure;                            // of a build of another compiler's: how szc builds it
  std::vector<RecordedBuild> recorded = {};    // that the two builds must be again; empty: any will do
  std::string cure_of_change = {};             // where they aren't
  std::string cure_of_failure = {};            // where their first runs fail
  std::optional<TemporaryFolder> copies = {};  // of programs
};

// What was typed, without how long it may take and where trials are kept.
std::string typed_explain(const Arguments& arguments);

// kBadInput: the words name no such sides, with what to write instead.
Result<ExplainedSides> explained_sides(const Arguments& arguments);

// Whether CPU time tells what this workload costs, and its functions are free to be put elsewhere. `where`: the plan, in
// messages.
Status may_be_explained(const plan::Plan& plan, const plan::Subject& subject, const std::string& where);

// Whether functions of this program can be moved. kBadInput: they can't; `shown`: what to call it, `cure`: how szc builds it.
Status must_move(const std::string& path, const std::string& shown, const std::string& cure, const engine::LayoutTool& tool);

}  // namespace stab::ctl
