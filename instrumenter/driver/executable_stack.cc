// Reading what objects say of their stack. A compiler that makes code at run time on the stack, as gcc, GNAT and gfortran do
// to take the address of a nested function, marks the object's section .note.GNU-stack as executable. GNU ld makes the
// program's stack executable then. flang leaves the section out, as assembly often does, and GNU ld takes that for the same. lld
// doesn't look, since clang never makes such code, and the first call through the address would end the program.
//
// Which members of an archive get linked, only the linker knows; one that asks counts.
#include "instrumenter/driver/executable_stack.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "base/unique_fd.h"
#include "instrumenter/postlink/archive.h"

namespace stab::driver {
namespace {

constexpr char kNote[] = ".note.GNU-stack";

// A file that is mapped for reading while this lives; empty where that can't be. A named pipe is not waited for.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status{};
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
    size_ = static_cast<size_t>(status.st_size);
    void* const memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (memory != MAP_FAILED) bytes_ = static_cast<const uint8_t*>(memory);
  }
  ~MappedFile() {
    if (bytes_ != nullptr) munmap(const_cast<uint8_t*>(bytes_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return bytes_ == nullptr ? std::span<const uint8_t>() : std::span(bytes_, size_); }

 private:
  const uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
};

template <typename T>
T read_at(std::span<const uint8_t> bytes, uint64_t at) {
  T value;
  memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool fits(std::span<const uint8_t> bytes, uint64_t at, uint64_t size) { return at <= bytes.size() && size <= bytes.size() - at; }

bool object_asks(std::span<const uint8_t> object) {
  if (!fits(object, 0, sizeof(Elf64_Ehdr)) || memcmp(object.data(), ELFMAG, SELFMAG) != 0) return false;
  const auto header = read_at<Elf64_Ehdr>(object, 0);
  if (header.e_type != ET_REL || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  const auto section = [&](uint64_t i) { return read_at<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  if (!fits(object, header.e_shoff, sizeof(Elf64_Shdr))) return false;
  // Of many sections the first one tells how many, and where their names are.
  const Elf64_Shdr first = section(0);
  const uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const uint64_t names_at = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (count > object.size() / sizeof(Elf64_Shdr) || names_at >= count) return false;
  if (!fits(object, header.e_shoff, count * sizeof(Elf64_Shdr))) return false;
  const Elf64_Shdr names = section(names_at);
  if (!fits(object, names.sh_offset, names.sh_size)) return false;
  bool has_code = false;
  for (uint64_t i = 0; i < count; ++i) {
    const Elf64_Shdr one = section(i);
    const bool is_code = one.sh_flags & SHF_EXECINSTR;
    if (is_code && one.sh_size > 0) has_code = true;
    if (one.sh_name > names.sh_size || names.sh_size - one.sh_name < sizeof kNote) continue;
    if (memcmp(object.data() + names.sh_offset + one.sh_name, kNote, sizeof kNote) == 0) return is_code;
  }
  return has_code;
}

bool file_asks(const std::string& path) {
  const MappedFile file(path);
  if (object_asks(file.bytes())) return true;
  const auto members = postlink::members_of_archive(file.bytes(), path);
  return members && std::any_of(members->begin(), members->end(), object_asks);
}

}  // namespace

bool ask_for_executable_stack(const Arguments& files) { return std::any_of(files.begin(), files.end(), file_asks); }

}  // namespace stab::driver
