// A list of system calls as a program for seccomp(2): what is in no list ends the process by SIGSYS. For the parts that read
// strangers' bytes: the helper, stab-layout and stab-lines.
//
// Another architecture's calls have other numbers, so they end the process as well; those of another ABI are in no list. Of
// arguments the low halves are looked at: no call that is listed with one has a high half that the kernel would use.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/resource.h>

#include "runtime/arch/arch.h"
#include "runtime/sys.h"

namespace stab::seccomp {

// Only where an argument is this value.
struct Exactly {
  uint32_t number;
  int argument;
  uint32_t value;
};
// Only where an argument has none of these bits.
struct Without {
  uint32_t number;
  int argument;
  uint32_t bits;
};

template <size_t kInstructions>
struct Filter {
  static_assert(kInstructions <= BPF_MAXINSNS);
  sock_filter code[kInstructions];
};

template <size_t kAlways, size_t kExactly, size_t kWithout>
constexpr auto make_filter(const uint32_t (&always)[kAlways], const Exactly (&exactly)[kExactly],
                           const Without (&without)[kWithout]) {
  constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr uint32_t kArchitectureOffset = offsetof(seccomp_data, arch);
  Filter<5 + 2 * kAlways + 5 * (kExactly + kWithout)> filter{};
  size_t at = 0;
  const auto put = [&](sock_filter instruction) { filter.code[at++] = instruction; };
  const auto load = [&](uint32_t offset) { put(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); };
  const auto answer = [&](uint32_t action) { put(BPF_STMT(BPF_RET | BPF_K, action)); };
  // Goes on behind the next `skipped` instructions where the loaded word is another.
  const auto if_equal = [&](uint32_t value, uint8_t skipped) { put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)); };
  const auto if_without = [&](uint32_t bits, uint8_t skipped) { put(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, skipped, 0)); };
  // Only where what `condition` puts, one instruction, doesn't go on behind the answer.
  const auto allow_if = [&](uint32_t number, int argument, const auto& condition) {
    if_equal(number, 4);
    load(static_cast<uint32_t>(offsetof(seccomp_data, args)) + 8u * static_cast<uint32_t>(argument));
    condition();
    answer(SECCOMP_RET_ALLOW);
    load(kNumber);
  };
  load(kArchitectureOffset);
  put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch::kAuditArchitecture, 1, 0));
  answer(SECCOMP_RET_KILL_PROCESS);
  load(kNumber);
  for (const uint32_t number : always) {
    if_equal(number, 1);
    answer(SECCOMP_RET_ALLOW);
  }
  for (const Exactly& one : exactly) allow_if(one.number, one.argument, [&] { if_equal(one.value, 1); });
  for (const Without& one : without) allow_if(one.number, one.argument, [&] { if_without(one.bits, 1); });
  answer(SECCOMP_RET_KILL_PROCESS);
  return filter;
}

// For this process and all of its threads that begin later. pre: no_new_privs.
// Without the slower branches that a filter brings by default: none of these parts keeps a secret from whom it reads.
template <size_t kInstructions>
bool install(const Filter<kInstructions>& filter) {
  const sock_fprog program{static_cast<unsigned short>(kInstructions), const_cast<sock_filter*>(filter.code)};
  return sys::call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, sys::word(&program)) == 0;
}

// Lowers a limit, also below what may be raised again.
inline bool limit(int resource, rlim_t most) {
  rlimit now{};
  if (sys::call(SYS_prlimit64, 0, resource, 0, sys::word(&now)) != 0) return false;
  const rlim_t value = now.rlim_max < most ? now.rlim_max : most;
  const rlimit lowered{value, value};
  return sys::call(SYS_prlimit64, 0, resource, sys::word(&lowered), 0) == 0;
}

}  // namespace stab::seccomp
