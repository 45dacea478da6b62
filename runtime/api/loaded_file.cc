#include "runtime/api/loaded_file.h"

#include <link.h>

#include "runtime/control.h"
#include "runtime/libc_names.h"

namespace stab::api {
namespace {

int look_at_file(dl_phdr_info* file, size_t, void* context) {
  LoadedFile& wanted = *static_cast<LoadedFile*>(context);
  // Whole pages: a text's first one may begin in front of its segment.
  const auto holds = [file](uint64_t address) {
    const uint64_t page = (address & ~(kPage - 1)) - file->dlpi_addr;
    for (int i = 0; i < file->dlpi_phnum; ++i) {
      const Elf64_Phdr& segment = file->dlpi_phdr[i];
      if (segment.p_type == PT_LOAD && page >= (segment.p_vaddr & ~(kPage - 1)) && page < segment.p_vaddr + segment.p_memsz)
        return true;
    }
    return false;
  };
  if (!holds(wanted.address)) return 0;
  wanted.found = true;
  wanted.is_executable = holds(address_of(&stab_control_pages));
  wanted.name = file->dlpi_name;
  wanted.extent = extent_of(file->dlpi_addr, file->dlpi_phdr, file->dlpi_phnum);
  wanted.segments = file->dlpi_phdr;
  wanted.segment_count = file->dlpi_phnum;
  return 1;
}

}  // namespace

LoadedFile file_holding(uint64_t address) {
  LoadedFile file(address);
  libc::iterate_files(look_at_file, &file);
  return file;
}

}  // namespace stab::api
