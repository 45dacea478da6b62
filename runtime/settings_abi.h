// The agreement between launcher, runtime and helper: the settings that a program is started with, and their text.
// docs/reference/abi.md says the same for people.
//
// Everything here crosses a process border: fields are never reordered or reused. A change here or in sections_abi.h bumps
// kAbiVersion in the same commit; a program that meets settings of another version refuses to run (exit code 125).
// Plain C++ without the standard library, so that every side can include it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/modes.h"

namespace stab::abi {

inline constexpr uint32_t kAbiVersion = 4;  // 4: code level design, layout scripts

// Read once, before main. Either STAB= (written by our launcher, constant length, so that cells don't differ
// in the size of the environment) or the readable STAB_CODE, STAB_STACK, STAB_STACK_RANGE, STAB_HEAP,
// STAB_EPOCH, STAB_SEED, STAB_REPORT, STAB_PERF_MAP, STAB_LONG_LOOPS, STAB_LAYOUT. Both at once, an unknown STAB_* name, or a bad
// value: one line on stderr, exit 125.

// What is randomized and how, with its words and limits: runtime/modes.h.

// Exit code for settings that can't be obeyed; 125 as env(1), timeout(1) and git-bisect use it.
inline constexpr int kExitBadSettings = 125;

struct Settings {
  CodeMode code = CodeMode::kOff;
  StackMode stack = StackMode::kOff;
  HeapMode heap = HeapMode::kOff;
  uint64_t seed = 0;
  // How long a layout lasts: a time, or with 0 so many visits (stab_visit in stab.h), whatever time they take. 0 visits: until
  // the program itself asks for another.
  uint64_t epoch_ns = kDefaultEpochNs;
  uint64_t epoch_visits = 0;
  int helper_cpu = -1;     // CPU the helper pins itself to, -1: wherever it may run
  int helper_socket = -1;  // inherited descriptor of a waiting stab-helper, -1: start our own (standalone)
  int report = -1;         // inherited descriptor that takes the dose report, -1: none or STAB_REPORT=path
  bool perf_map = false;   // STAB_PERF_MAP=1: write /tmp/perf-PID.map; has no place in STAB=
  bool long_loops = false; // STAB_LONG_LOOPS=1: lead what stays in a loop to new images; a launched program's helper is told
  uint32_t stack_range_bytes = kMaxStackRangeBytes;  // is_stack_range
  bool simulated = false;  // this process runs under valgrind: found out by the program itself, has no place in STAB=
};
inline constexpr bool is_epoch(const Settings& settings) {
  if (settings.epoch_ns == 0) return settings.epoch_visits <= kMaxEpochVisits;
  return settings.epoch_visits == 0 && settings.epoch_ns >= kMinEpochNs && settings.epoch_ns <= kMaxEpochNs;
}

// STAB=04,sop,... is exactly this long, whatever it says:
//   VV,csh,SSSSSSSSSSSSSSSS,EEEEEEEEEEEEE,CCCC,HHHH,RRRR,PPPP
// VV version in decimal; c s h the letters above; S seed, 16 hex digits; E epoch in ns, 13 decimal digits,
// or a v and its visits, 12 decimal digits;
// C helper CPU, H helper socket, R report descriptor, 4 decimal digits each, "----" for -1;
// P range of the stack's pads in bytes, 4 decimal digits.
inline constexpr char kSettingsName[] = "STAB";
inline constexpr size_t kSettingsLength = 2 + 1 + 3 + 1 + 16 + 1 + 13 + 1 + 4 + 1 + 4 + 1 + 4 + 1 + 4;

namespace detail {
inline char* put_number(char* at, uint64_t value, int digits, unsigned base) {
  for (int i = digits - 1; i >= 0; --i, value /= base) at[i] = "0123456789abcdef"[value % base];
  return at + digits;
}
inline char* put_optional(char* at, int value) {
  if (value >= 0) return put_number(at, static_cast<uint64_t>(value), 4, 10);
  for (int i = 0; i < 4; ++i) at[i] = '-';
  return at + 4;
}
inline bool get_number(const char*& at, int digits, unsigned base, uint64_t& value) {
  value = 0;
  for (int i = 0; i < digits; ++i) {
    const char c = *at++;
    unsigned digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    if (digit >= base) return false;
    value = value * base + digit;
  }
  return true;
}
inline bool get_optional(const char*& at, int& value) {
  if (at[0] == '-' && at[1] == '-' && at[2] == '-' && at[3] == '-') {
    at += 4;
    value = -1;
    return true;
  }
  uint64_t number = 0;
  if (!get_number(at, 4, 10, number)) return false;
  value = static_cast<int>(number);
  return true;
}
inline bool get_letter(const char*& at, const char* letters, uint8_t& index) {
  for (index = 0; letters[index] != 0; ++index)
    if (letters[index] == *at) return ++at, true;
  return false;
}
}  // namespace detail

// Writes kSettingsLength characters and a final 0 to out. pre: out holds kSettingsLength + 1 bytes,
// descriptors and CPU are below 10000, is_epoch.
inline void encode_settings(const Settings& settings, char* out) {
  char* at = detail::put_number(out, kAbiVersion, 2, 10);
  *at++ = ',';
  *at++ = kCodeLetters[static_cast<uint8_t>(settings.code)];
  *at++ = kStackLetters[static_cast<uint8_t>(settings.stack)];
  *at++ = kHeapLetters[static_cast<uint8_t>(settings.heap)];
  *at++ = ',';
  at = detail::put_number(at, settings.seed, 16, 16);
  *at++ = ',';
  if (settings.epoch_ns == 0) *at++ = 'v';
  at = settings.epoch_ns == 0 ? detail::put_number(at, settings.epoch_visits, 12, 10)
                              : detail::put_number(at, settings.epoch_ns, 13, 10);
  *at++ = ',';
  at = detail::put_optional(at, settings.helper_cpu);
  *at++ = ',';
  at = detail::put_optional(at, settings.helper_socket);
  *at++ = ',';
  at = detail::put_optional(at, settings.report);
  *at++ = ',';
  at = detail::put_number(at, settings.stack_range_bytes, 4, 10);
  *at = 0;
}

// False unless text is exactly what encode_settings writes for this version.
inline bool decode_settings(const char* text, Settings& out) {
  size_t length = 0;
  while (length <= kSettingsLength && text[length] != 0) ++length;
  if (length != kSettingsLength) return false;
  const char* at = text;
  const auto comma = [&at] { return *at++ == ','; };
  uint64_t version = 0, stack_range_bytes = 0;
  uint8_t code = 0, stack = 0, heap = 0;
  Settings settings;
  if (!detail::get_number(at, 2, 10, version) || version != kAbiVersion || !comma()) return false;
  if (!detail::get_letter(at, kCodeLetters, code) || !detail::get_letter(at, kStackLetters, stack) ||
      !detail::get_letter(at, kHeapLetters, heap) || !comma())
    return false;
  if (!detail::get_number(at, 16, 16, settings.seed) || !comma()) return false;
  const bool by_visits = *at == 'v';
  if (by_visits) ++at, settings.epoch_ns = 0;
  if (!detail::get_number(at, by_visits ? 12 : 13, 10, by_visits ? settings.epoch_visits : settings.epoch_ns) || !comma())
    return false;
  if (!is_epoch(settings) || (settings.epoch_ns == 0 && !by_visits)) return false;
  if (!detail::get_optional(at, settings.helper_cpu) || !comma()) return false;
  if (!detail::get_optional(at, settings.helper_socket) || !comma()) return false;
  if (!detail::get_optional(at, settings.report) || !comma()) return false;
  if (!detail::get_number(at, 4, 10, stack_range_bytes) || !is_stack_range(stack_range_bytes)) return false;
  settings.stack_range_bytes = static_cast<uint32_t>(stack_range_bytes);
  settings.code = static_cast<CodeMode>(code);
  settings.stack = static_cast<StackMode>(stack);
  settings.heap = static_cast<HeapMode>(heap);
  out = settings;
  return true;
}

}  // namespace stab::abi
