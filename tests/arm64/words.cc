// Says of each word of a file, as an instruction of arm64 at its offset, whether it is relative, and where it leads.
//
//     words_arm64 FILE
//
// A line for each word on standard output: 0, or 1 and the target in hexadecimal, or 2 for what is relative in a way that nothing
// can change. Each target is written back to the same word from another address, as a copy's is, and must be found again.
#include <cstdio>
#include <cstdlib>

#include "runtime/arch/aarch64/instruction.h"

namespace arm = stab::arch::aarch64;

int main(int count, char** words) {
  std::FILE* const file = count == 2 ? std::fopen(words[1], "rb") : nullptr;
  if (file == nullptr) return std::fprintf(stderr, "usage: words_arm64 FILE\n"), 2;
  uint8_t bytes[4];
  for (uint64_t address = 0; std::fread(bytes, sizeof bytes, 1, file) == 1; address += sizeof bytes) {
    const uint32_t word = arm::get_word(bytes);
    const arm::Relative relative = arm::relative_of(word);
    if (relative == arm::Relative::kNone || relative == arm::Relative::kUnknown) {
      std::puts(relative == arm::Relative::kNone ? "0" : "2");
      continue;
    }
    const uint64_t target = arm::target_of(word, address);
    std::printf("1 %llx\n", static_cast<unsigned long long>(target));
    uint32_t copied = word;
    const uint64_t elsewhere = target;  // in reach of anything
    if (!arm::lead_to(copied, elsewhere, target) || arm::target_of(copied, elsewhere) != target) return std::puts("not led"), 1;
    if (!arm::lead_to(copied, address, target) || copied != word) return std::puts("not led back"), 1;
  }
  std::fclose(file);
  return 0;
}
