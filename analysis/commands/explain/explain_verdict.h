// What an explanation's answer is once everything that is known of both programs counts: blocks may say code, and be right about
// the time, where libraries, data or waiting leave open what it is.
#pragma once

#include "analysis/commands/explain/explain.h"

namespace stab::commands {

// Shares of the time from which on libraries are worth a word.
inline constexpr double kLibrariesMatter = 0.05;

// Code that takes another time wherever the program's functions lie may be the place of a library's function that stays.
bool may_be_library_place(const Explanation& all);

// The same of code of the programs' own that never moves, such as assembly or archives that szc did not compile.
bool may_be_still_place(const Explanation& all);

// Code that takes another time while no instruction differs, nor what is known of its data's contents: data are longer, or lie
// elsewhere.
bool may_be_data(const Explanation& all);

// Code that takes another time, of which the functions whose instructions differ make less than half themselves, and data of both
// lie elsewhere or are longer: it is what these functions make others do, or partly the place of the data.
bool may_be_partly_data(const Explanation& all);

// Nothing that is known of either program's code, constants or data differs, but in functions that were never seen to run.
bool runs_same_code(const Explanation& all);

// The answer is then the place, if the blocks have found a place and leave open a code effect of less than half the margin.
bool is_place_of_same_code(const Explanation& all);

// One of them, or both, waited so much that CPU time could hide a change.
bool waits(const Explanation& all);

// What takes another time while it waits has the same CPU time, so nobody may call its code the same.
bool may_wait_longer(const Explanation& all);

// What blocks show, or leave open, of two copies of one program is none of the program's.
bool is_chance(const Explanation& all);

statistics::CauseVerdict verdict_of(const Explanation& all);

}  // namespace stab::commands
