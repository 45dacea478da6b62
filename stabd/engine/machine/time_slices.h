// What the kernel of this machine does with programs that share a CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stabd/host/roots.h"

namespace stab::engine {

// Why a program can't choose the length of its time slices; empty: it can. By the release, since older kernels take the
// request and forget it (sched_setattr(2); Linux 6.12 is the first whose fair scheduler keeps it).
std::string why_no_slices(const host::Roots& roots);
// MemAvailable of /proc/meminfo; absent: this machine doesn't tell.
std::optional<int64_t> available_memory_kib(const host::Roots& roots);

}  // namespace stab::engine
