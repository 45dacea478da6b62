// A program's file: whatever it says of the libraries that it needs, what is told is bounded.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "base/own_libraries.h"
#include "base/unique_fd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const stab::UniqueFd file(::memfd_create("program", MFD_CLOEXEC));
  if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  const stab::NeededLibraries needed = stab::needed_libraries(file.get());
  if (needed.names.size() > 1000) std::abort();
  for (const std::string& name : needed.names) {
    if (name.size() >= 4096 || name.find('\0') != std::string::npos) std::abort();
  }
  return 0;
}
