// A recorded trial, and what looks into its program.
#pragma once

#include "base/result.h"
#include "stabctl/command_line/arguments.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/results/layout_tool.h"
#include "store/store.h"

namespace stab::ctl {

struct RecordedTrial {
  store::Store store;
  engine::LayoutTool tool;
  engine::Archive archive;
};
// That the arguments name, in their database. kNotFound: there is none
Result<RecordedTrial> recorded_trial(const Arguments& arguments);

}  // namespace stab::ctl
