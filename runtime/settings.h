// The settings of this process, read once from STAB= or the readable STAB_* variables (settings_abi.h).
#pragma once

#include "runtime/settings_abi.h"

namespace stab {

// Usable at any time, also from a malloc that runs before libc has set `environ` up. Settings that can't be
// obeyed end the process with one line on stderr and exit code 125; the first call comes before main. In a program with
// more rights than its user (AT_SECURE) everything is off, whatever the environment says.
const abi::Settings& settings();

// STAB_REPORT, or nullptr. pre: settings() was called.
const char* report_path();

// STAB_LAYOUT, or nullptr. pre: settings() was called.
const char* script_path();

// Whether LD_DYNAMIC_WEAK is set. pre: settings() was called.
bool has_dynamic_weak();

// Parsing alone, for tests and for settings(). `environment` ends with a nullptr.
// False: `message` holds the one line that says why, without newline.
struct ParsedSettings {
  abi::Settings settings;
  const char* report_path = nullptr;
  const char* script_path = nullptr;
  bool seed_given = false;
  bool has_dynamic_weak = false;  // LD_DYNAMIC_WEAK is set: the loader takes any other definition before a weak one, as ours are
};
inline constexpr size_t kSettingsMessageBytes = 256;
bool parse_settings(const char* const* environment, ParsedSettings& out, char (&message)[kSettingsMessageBytes]);

}  // namespace stab
