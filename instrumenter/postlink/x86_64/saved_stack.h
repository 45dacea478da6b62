// Whether a function that moves a register to the stack pointer goes back on the stack that it is on, as compiled functions with
// variable arrays do at the end of a scope, or may go to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "runtime/arch/x86_64/instruction.h"

namespace stab::postlink {

// Registers as a bit for each, by the processor's numbers.
using Registers = uint16_t;

// Those that an instruction may write, but for what a call does.
Registers may_write(const arch::x86_64::Instruction& instruction);

// What is around such code where no symbol says that it is one function.
struct Surroundings {
  std::span<const size_t> entries = {};  // where other code leads into it, besides its start
  // Those that the code at a call's target may write, by its distance from the start: assembly calls labels that keep more
  // registers than functions do.
  std::function<Registers(int64_t target)> written_by = {};
};

// True: each register that it moves to rsp, by mov or lea, holds an address of its own stack there, on every way that leads
// there. rbp is such a register if the function uses it for other values, too. And what it pops to rsp it has saved. False also
// where that can't be told. `around`: null for a function.
bool goes_back_on_its_stack(std::span<const uint8_t> code, const Surroundings* around = nullptr);

}  // namespace stab::postlink
