// The program's half of the board.
#pragma once

#include "runtime/progress/board.h"

namespace stab::progress {

// Before main, once: where the board was mapped. Without it nothing is counted.
void use_board(Board* board);

// From now on points count on another board. Before main only. False: both have points already, so they stay where they are.
bool lead_to(Board* other);

// When this process ends: what was counted there stands on the helper's board again, for its report.
void bring_back();

// In a forked child, before any code of the program: the thread's row is its parent's.
void leave_row_to_parent();

// When this process ends: its last thread's row is free again.
void give_row_back();

}  // namespace stab::progress
