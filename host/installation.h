// Installation: where the parts of this build or installation are, relative to the running executable.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::engine {

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
  std::string heap;      // <root>/lib/stab/libstabheap.so; whoever preloads it looks whether it is there
};

// kNotFound names the part that is missing.
Result<Installation> find_installation();
Result<Installation> installation_at(const std::string& root);

}  // namespace stab::engine
