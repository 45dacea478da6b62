// Installation: where the parts of this build or installation are, relative to the running executable.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::host {

struct Installation {
  std::string bin;       // <root>/bin: szc and friends
  std::string launcher;  // <root>/libexec/stab/stab-launcher
  std::string helper;    // <root>/libexec/stab/stab-helper
  std::string broker;    // <root>/libexec/stab/stab-broker
  std::string worker;    // <root>/libexec/stab/stab-worker
  std::string layout;    // <root>/libexec/stab/stab-layout
  std::string lines;     // <root>/libexec/stab/stab-lines
  std::string causal;    // <root>/libexec/stab/stab-causal
  std::string causal_library;  // <root>/lib/stab/libstabcausal.so
  std::string heap;      // <root>/lib/stab/libstabheap.so
  std::string host;      // <root>/lib/stab/libstabhost.so
};

// What only causal profiles need: lines, causal, causal_library. kNotFound names the part that is missing.
Status check_causal_parts(const Installation& installation);

// What only 'preload_heap' and 'preload_libraries' need.
Status check_preloaded_parts(const Installation& installation);

// kNotFound names the part that is missing, of those that every experiment needs.
Result<Installation> find_installation();
Result<Installation> installation_at(const std::string& root);

}  // namespace stab::host
