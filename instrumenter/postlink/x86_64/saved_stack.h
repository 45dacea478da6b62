// Whether a function that moves a register to the stack pointer goes back on the stack that it is on, as compiled functions with
// variable arrays do at the end of a scope, or may go to another.
#pragma once

#include <cstdint>
#include <span>

namespace stab::postlink {

// True: each register that it moves to rsp, by mov or lea, holds an address of its own stack there, on every way that leads
// there. rbp is such a register if the function uses it for other values, too. False also
// where that can't be told.
bool goes_back_on_its_stack(std::span<const uint8_t> code);

}  // namespace stab::postlink
