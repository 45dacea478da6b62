// A layout script as a file: its text, and behind a byte 0 the match table that it names.
#pragma once

#include "runtime/code/layout_script.h"
#include "runtime/code/match_table.h"
#include "runtime/modes.h"

namespace stab::helper {

struct ScriptFile {
  code::LayoutScript script;  // points into `text`
  code::MatchTable match;     // without rows where the script names none
  size_t text_bytes = 0;
  char text[code::kMostScriptBytes + 1];
};

// Reads a regular file, and looks whether code of this level can obey it; the script is not bound yet. What it allocates lives as
// long as the process.
code::ScriptVerdict read_script_file(int file, abi::CodeMode mode, ScriptFile& out);

}  // namespace stab::helper
