// A switch to another stack, as assembly of coroutines has it: in code that nobody has decoded as a whole, or in an array of data
// that a library makes executable.
#pragma once

#include <cstdint>
#include <span>

namespace stab::arch::x86_64 {

// Whether there are instructions that keep the stack pointer, in memory or a register, load another, restore rbx and rbp, and
// return or jump to where a register leads, with nothing between but what such code is made of. Other data hardly ever hold that,
// nor does what compilers make, wherever in it the bytes begin.
bool holds_stack_switch(std::span<const uint8_t> bytes);

inline constexpr uint32_t kMostSwitchBytes = 1024;  // that such code takes

}  // namespace stab::arch::x86_64
