// The events that the kernel itself defines, under the names that perf uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stab::counters {

struct KernelEvent {
  std::string_view name;
  uint32_t type;
  uint64_t config;
  bool hardware;
  bool in_kernel_only;  // happens in kernel mode: excluding the kernel would count 0
  bool in_ns;
};

// Software events, generic hardware events, and cache events ("L1-icache-load-misses"). Case counts.
std::optional<KernelEvent> kernel_event(std::string_view name);
std::vector<std::string_view> kernel_event_names();

}  // namespace stab::counters
