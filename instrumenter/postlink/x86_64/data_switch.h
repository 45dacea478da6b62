// Code among data, as libraries of coroutines keep it in an array that they make executable: a switch to another stack.
#pragma once

#include <cstdint>
#include <span>

namespace stab::postlink {

// Whether there are instructions that keep the stack pointer, in memory or a register, load another, restore rbx and rbp, and
// return or jump to where a register leads, with nothing between but what such code is made of. Other data hardly ever hold that.
bool holds_stack_switch(std::span<const uint8_t> data);

}  // namespace stab::postlink
