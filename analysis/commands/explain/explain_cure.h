// How builds keep the functions that explain has found where they are fast, and what that gains: for people, for programs, and in
// a gate's one line.
#pragma once

#include <string>

#include "analysis/commands/explain/explain.h"

namespace stab::commands {

// pre: functions were searched, and there is an answer
std::string cure_text(const Explanation& all, int width);

// "cure: stabctl layout emit 17 --out lua.layout, then build by szc --stab-layout=lua.layout: ...". Empty: there is none.
std::string cure_line(const Explanation& all);

// `cure`, `cured` and `no_cure`, as fields of the object that is open.
void write_cure(text::JsonWriter& json, const Explanation& all);

}  // namespace stab::commands
