// What the runtime knows of the processor that programs run on. Each processor has a folder with the same names in it, and this
// header makes those of one of them stab::arch's. Nothing else of runtime/ names a register, an instruction or an encoding
// (tests/house/processor_test).
//
//   code.h         entries, prefixes, jumps, fields: the bytes that images and canonical entries are made of
//   registers.h    where the kernel and libc leave a thread's registers: samples, signal frames, jmp_buf
//   stack_switch.h  what switches to another stack look like
//   system_call.h  the way into the kernel, and clones that go on with another stack
//   words.h        what differs in one word: names of libc's and others', ELF's number, pages, single instructions
#pragma once

#if defined(__x86_64__)
#include "runtime/arch/x86_64/code.h"
#include "runtime/arch/x86_64/registers.h"
#include "runtime/arch/x86_64/stack_switch.h"
#include "runtime/arch/x86_64/system_call.h"
#include "runtime/arch/x86_64/words.h"

namespace stab::arch {
using namespace x86_64;
}
#elif defined(__aarch64__)  // the lab alone: the programs of szc's whose files it reads are x86-64's
#include "runtime/arch/aarch64/system_call.h"
#include "runtime/arch/x86_64/code.h"
#include "runtime/arch/x86_64/words.h"

namespace stab::arch {
using namespace aarch64;
using x86_64::kElfMachine;
using x86_64::kPage;
using x86_64::takes_entry_jump;
}
#else
#error "Stab is for x86-64, and its lab for arm64; docs/contributors/arm64.md says what another processor needs"
#endif
