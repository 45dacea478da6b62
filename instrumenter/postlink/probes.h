// Probes: places that a program marks for tracers (USDT, <sys/sdt.h>), and which of them are in code that moves. A tracer plants
// a breakpoint at the place in the file, which nobody comes by while the program runs in copies.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "instrumenter/postlink/elf_image.h"

namespace stab::postlink {

struct Probe {
  std::string name;  // PROVIDER:NAME
  uint64_t address;
};

// In the order of the notes. One that isn't understood is left out, and so is what follows it in a damaged section.
std::vector<Probe> read_probes(const ElfImage& image);

// "3 probes, app:begin the first" of those in functions that move; empty: none.
std::string moving_probes(const ElfImage& image, const std::function<bool(uint64_t address)>& moves);

}  // namespace stab::postlink
