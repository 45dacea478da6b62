// Making match tables: what several builds of a program need, put together.
#pragma once

namespace stab::layout {

// Prints a layout script and its match table for these executables (code/match_table.h). Of one executable a word of 4 bytes for
// each row follows: what is in the function, wherever it lies and whatever it is called. False: it has said why not.
bool print_match(char** executables, int count);

}  // namespace stab::layout
