// Settings come from the environment, which no trial may notice: the launcher writes STAB= in constant length;
// people write STAB_CODE=shuffle and the like. Parsing is strict, because a misspelt switch that is ignored
// makes an experiment that measured nothing.
//
// The heap asks for settings from the first malloc, which comes before libc has set `environ`; then the
// environment is found on the stack, where the loader knows its place.
//
// A program that has other rights than whoever started it (setuid, setgid, file capabilities) does nothing that its
// environment asks for, as libc does: no report is written where its user could not write, no descriptor is taken for a
// helper's, and all factors are off.
#include "runtime/settings.h"

#include <sys/auxv.h>

#include "runtime/libc_names.h"
#include "runtime/same_text.h"
#include "runtime/sys.h"

// ld.so's, and in a static program libc's: where the stack of the program began.
extern "C" void* __libc_stack_end;

namespace stab {
namespace {

using abi::CodeMode;
using abi::HeapMode;
using abi::StackMode;

// The rest of `text` after `prefix`, or nullptr.
const char* after(const char* text, const char* prefix) {
  while (*prefix != 0)
    if (*text++ != *prefix++) return nullptr;
  return text;
}

// The compiler drivers' own, and a causal profile's: they say nothing about the layout of a run.
bool is_for_others(const char* entry) {
  return after(entry, "STAB_LINK_") != nullptr || after(entry, "STAB_CAUSAL=") != nullptr;
}

// One line for people, cut where it doesn't fit.
class Line {
 public:
  explicit Line(char (&to)[kSettingsMessageBytes]) : at_(to), end_(to + kSettingsMessageBytes - 1) { *at_ = 0; }
  Line& operator<<(const char* text) {
    while (*text != 0 && at_ < end_) *at_++ = *text++;
    *at_ = 0;
    return *this;
  }

 private:
  char* at_;
  char* end_;
};

template <size_t N>
bool find_word(const char* value, const char* const (&words)[N], uint8_t& index) {
  for (index = 0; index < N; ++index)
    if (same_text(value, words[index])) return true;
  return false;
}

template <size_t N>
void list_words(Line& line, const char* const (&words)[N]) {
  for (size_t i = 0; i < N; ++i) line << (i == 0 ? "" : i + 1 == N ? " or " : ", ") << words[i];
}

// Digits in `base`, at least one, up to the first other character.
bool take_number(const char*& at, unsigned base, uint64_t& value) {
  const char* const start = at;
  value = 0;
  for (;; ++at) {
    unsigned digit = 99;
    if (*at >= '0' && *at <= '9') digit = static_cast<unsigned>(*at - '0');
    if (*at >= 'a' && *at <= 'f') digit = static_cast<unsigned>(*at - 'a') + 10;
    if (*at >= 'A' && *at <= 'F') digit = static_cast<unsigned>(*at - 'A') + 10;
    if (digit >= base) return at != start;
    if (__builtin_mul_overflow(value, uint64_t{base}, &value)) return false;
    if (__builtin_add_overflow(value, uint64_t{digit}, &value)) return false;
  }
}

bool parse_seed(const char* text, uint64_t& seed) {
  const char* hex = after(text, "0x");
  const char* at = hex != nullptr ? hex : text;
  return take_number(at, hex != nullptr ? 16 : 10, seed) && *at == 0;
}

bool parse_stack_range(const char* text, uint32_t& bytes) {
  const char* at = text;
  uint64_t number = 0;
  if (!take_number(at, 10, number) || *at != 0 || !abi::is_stack_range(number)) return false;
  bytes = static_cast<uint32_t>(number);
  return true;
}

bool parse_epoch(const char* text, abi::Settings& settings) {
  const char* at = text;
  uint64_t unit_ns = 0, count = 0;
  if (!take_number(at, 10, count)) return false;
  if (same_text(at, "visits")) {
    settings.epoch_ns = 0;
    settings.epoch_visits = count;
    return abi::is_epoch(settings);
  }
  if (same_text(at, "us")) unit_ns = 1'000;
  if (same_text(at, "ms")) unit_ns = 1'000'000;
  if (same_text(at, "s")) unit_ns = 1'000'000'000;
  if (unit_ns == 0 || __builtin_mul_overflow(count, unit_ns, &settings.epoch_ns)) return false;
  settings.epoch_visits = 0;
  return settings.epoch_ns != 0 && abi::is_epoch(settings);
}

// One readable variable; `entry` is the whole "STAB_NAME=value".
bool parse_readable(const char* entry, ParsedSettings& out, Line& line) {
  uint8_t index = 0;
  if (const char* value = after(entry, "STAB_CODE=")) {
    if (!find_word(value, abi::kCodeWords, index)) {
      line << entry << ": expected ";
      list_words(line, abi::kCodeWords);
      return false;
    }
    out.settings.code = static_cast<CodeMode>(index);
    return true;
  }
  if (const char* value = after(entry, "STAB_STACK=")) {
    if (!find_word(value, abi::kStackWords, index)) {
      line << entry << ": expected ";
      list_words(line, abi::kStackWords);
      return false;
    }
    out.settings.stack = static_cast<StackMode>(index);
    return true;
  }
  if (const char* value = after(entry, "STAB_STACK_RANGE=")) {
    if (parse_stack_range(value, out.settings.stack_range_bytes)) return true;
    line << entry << ": expected a power of two from 16 to 4096, in bytes";
    return false;
  }
  if (const char* value = after(entry, "STAB_HEAP=")) {
    if (!find_word(value, abi::kHeapWords, index)) {
      line << entry << ": expected ";
      list_words(line, abi::kHeapWords);
      return false;
    }
    out.settings.heap = static_cast<HeapMode>(index);
    return true;
  }
  if (const char* value = after(entry, "STAB_EPOCH=")) {
    if (parse_epoch(value, out.settings)) return true;
    line << entry << ": expected a whole number with us, ms or s, from 100us to 3600s, or with visits, such as 1000visits";
    return false;
  }
  if (const char* value = after(entry, "STAB_SEED=")) {
    out.seed_given = true;
    if (parse_seed(value, out.settings.seed)) return true;
    line << entry << ": expected a number below 2^64, decimal or 0x hexadecimal";
    return false;
  }
  if (const char* value = after(entry, "STAB_REPORT=")) {
    if (*value != 0) {
      out.report_path = value;
      return true;
    }
    line << entry << ": expected a path";
    return false;
  }
  if (const char* value = after(entry, "STAB_LAYOUT=")) {
    if (*value != 0) {
      out.script_path = value;
      return true;
    }
    line << entry << ": expected the path of a layout script";
    return false;
  }
  if (const char* value = after(entry, "STAB_PERF_MAP=")) {
    out.settings.perf_map = same_text(value, "1");
    if (out.settings.perf_map || same_text(value, "0")) return true;
    line << entry << ": expected 1 or 0";
    return false;
  }
  if (const char* value = after(entry, "STAB_LONG_LOOPS=")) {
    out.settings.long_loops = same_text(value, "1");
    if (out.settings.long_loops || same_text(value, "0")) return true;
    line << entry << ": expected 1 or 0";
    return false;
  }
  if (is_for_others(entry)) return true;
  line << entry << ": unknown setting; there are STAB_CODE, STAB_STACK, STAB_STACK_RANGE, STAB_HEAP, STAB_EPOCH, "
       << "STAB_SEED, STAB_REPORT, STAB_PERF_MAP, STAB_LONG_LOOPS and STAB_LAYOUT";
  return false;
}

// The environment as the kernel laid it out, when libc doesn't have it yet: it lies behind the arguments, which lie behind their
// number. pre: the program is dynamic. nullptr: that isn't what is there.
const char* const* environment_on_stack() {
  if (__libc_stack_end == nullptr) return nullptr;
  const uint64_t count = *static_cast<const uint64_t*>(__libc_stack_end);
  constexpr uint64_t kMostBytes = 8u << 20;  // the kernel's own limit for arguments and environment is 6 MiB
  const char* const* const arguments = static_cast<const char* const*>(__libc_stack_end) + 1;
  return count < kMostBytes && arguments[count] == nullptr ? arguments + count + 1 : nullptr;
}

uint64_t random_seed() {
  uint64_t seed = 0;
  constexpr long kInsecure = 4;  // GRND_INSECURE: never blocks, also early at boot
  if (sys::call(SYS_getrandom, sys::word(&seed), sizeof seed, kInsecure) == sizeof seed) return seed;
  return sys::monotonic_ns() * 0x9e3779b97f4a7c15u ^ static_cast<uint64_t>(sys::getpid());
}

[[noreturn]] void refuse(const char* message) {
  char text[kSettingsMessageBytes + 16];
  size_t length = 0;
  const char* const parts[] = {"stab: ", message, "\n"};
  for (const char* part : parts)
    for (; *part != 0; ++part) text[length++] = *part;
  sys::write_full(2, text, length);
  sys::exit_process(abi::kExitBadSettings);
}

ParsedSettings parsed;
bool ready = false;

}  // namespace

bool parse_settings(const char* const* environment, ParsedSettings& out, char (&message)[kSettingsMessageBytes]) {
  Line line(message);
  out = ParsedSettings{};
  const char* fixed = nullptr;
  const char* readable = nullptr;
  for (; *environment != nullptr; ++environment) {
    const char* entry = *environment;
    if (const char* value = after(entry, "STAB=")) {
      fixed = entry;
      if (abi::decode_settings(value, out.settings)) {
        out.seed_given = true;
        continue;
      }
      line << entry << ": expected the fixed-width form of settings version 4, as our launcher writes it";
      return false;
    }
    if (after(entry, "LD_DYNAMIC_WEAK=") != nullptr) out.has_dynamic_weak = true;
    if (after(entry, "STAB_") == nullptr) continue;
    if (!is_for_others(entry)) readable = entry;
    if (!parse_readable(entry, out, line)) return false;
  }
  if (fixed == nullptr) {
    const bool is_design = out.settings.code == CodeMode::kDesign;
    if (is_design && out.script_path == nullptr) line << "STAB_CODE=design: needs STAB_LAYOUT, the path of a layout script";
    // One that only matches pads suits code that stays; the helper reads what it says.
    if (out.script_path != nullptr && out.settings.code == CodeMode::kOff && !draws_pads(out.settings.stack))
      line << "STAB_LAYOUT=" << out.script_path << ": needs a STAB_CODE that is not off";
    return *message == 0;
  }
  if (readable == nullptr) return true;
  line << readable << ": set together with STAB=; unset one of them";
  return false;
}

const abi::Settings& settings() {
  if (ready) return parsed.settings;
  if (__getauxval(AT_SECURE) != 0) {
    ready = true;
    return parsed.settings;
  }
  const char* const* environment = __environ;
  if (environment == nullptr) environment = environment_on_stack();
  char message[kSettingsMessageBytes];
  if (environment != nullptr && !parse_settings(environment, parsed, message)) refuse(message);
  const abi::Settings& read = parsed.settings;
  const bool randomizes = read.code != CodeMode::kOff || read.stack != StackMode::kOff || read.heap != HeapMode::kOff;
  if (randomizes && !parsed.seed_given) parsed.settings.seed = random_seed();
  ready = true;
  return parsed.settings;
}

const char* report_path() { return parsed.report_path; }

const char* script_path() { return parsed.script_path; }

bool has_dynamic_weak() { return parsed.has_dynamic_weak; }

}  // namespace stab
