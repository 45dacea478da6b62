// What a file says of itself is not believed before it is held against its size: it is the program's user's.
#include "runtime/helper/sampled_files.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/code/partition_point.h"
#include "runtime/helper/file_part.h"
#include "runtime/helper/library_name.h"
#include "runtime/helper/look.h"
#include "runtime/helper/text.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// As long as samples may wait to be taken: an address may belong to another file by then as well.
constexpr uint64_t kKnownForNs = 250'000'000;
constexpr char kOurMemory[] = "/memfd:stab";  // texts and images of what moves
// Of a file with more code no hash is told.
constexpr uint64_t kMostCodeBytes = uint64_t{1} << 30;
constexpr uint32_t kMostSegments = 64;

// Where the segments of a file lie in it.
class Segments {
 public:
  bool read(int file, const Elf64_Ehdr& header) {
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostSegments) return false;
    const long bytes = header.e_phnum * static_cast<long>(sizeof(Elf64_Phdr));
    count_ = header.e_phnum;
    return sys::pread_full(file, segment_, static_cast<size_t>(bytes), header.e_phoff) == bytes;
  }

  // Calls `each` with where the executable ones begin in the file, and how long they are.
  template <typename Each>
  void for_each_of_code(Each each) const {
    for (uint32_t i = 0; i < count_; ++i)
      if (segment_[i].p_type == PT_LOAD && (segment_[i].p_flags & PF_X) != 0) each(segment_[i].p_offset, segment_[i].p_filesz);
  }

  bool offset_of(uint64_t address, uint64_t& offset) const {
    for (uint32_t i = 0; i < count_; ++i) {
      const Elf64_Phdr& segment = segment_[i];
      if (segment.p_type != PT_LOAD || address - segment.p_vaddr >= segment.p_filesz) continue;
      offset = address - segment.p_vaddr + segment.p_offset;
      return true;
    }
    return false;
  }

 private:
  Elf64_Phdr segment_[kMostSegments];
  uint32_t count_ = 0;
};

bool read_header(int file, Elf64_Ehdr& header, Segments& segments) {
  return file >= 0 && sys::pread_full(file, &header, sizeof header, 0) == sizeof header &&
         memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 && segments.read(file, header);
}

// Tells builds of a file apart. 0: it can't be read.
uint64_t hash_of_code(int file) {
  constexpr uint64_t kAtATime = 1 << 20;
  Elf64_Ehdr header;
  Segments segments;
  if (!read_header(file, header, segments)) return 0;
  uint64_t hash = 0, left = kMostCodeBytes;
  bool done = true;
  segments.for_each_of_code([&](uint64_t offset, uint64_t bytes) {
    done = done && bytes <= left;
    left -= done ? bytes : 0;
    for (uint64_t at = 0; done && at < bytes; at += kAtATime) {
      const uint64_t step = bytes - at < kAtATime ? bytes - at : kAtATime;
      const FilePart part(file, offset + at, step);
      done = part.as<uint8_t>() != nullptr;
      if (done) hash = hash * 0x9e3779b97f4a7c15u + abi::hash64(part.as<uint8_t>(), step);
    }
  });
  return done ? hash : 0;
}

// -1: it can't be opened, or is no regular file.
int open_regular(int directory, const char* path, struct stat& status) {
  const int file = sys::open_at(directory, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return -1;
  if (sys::call(SYS_fstat, file, sys::word(&status)) == 0 && S_ISREG(status.st_mode)) return file;
  sys::close(file);
  return -1;
}

// The table of symbols: all of them, or, of a stripped file, those that it exports. nullptr: there is none.
const Elf64_Shdr* table_of_symbols(const Elf64_Shdr* sections, uint32_t count) {
  const Elf64_Shdr* exported = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    if (sections[i].sh_link >= count) continue;
    if (sections[i].sh_type == SHT_SYMTAB) return &sections[i];
    if (sections[i].sh_type == SHT_DYNSYM) exported = &sections[i];
  }
  return exported;
}

}  // namespace

bool SampledFiles::begin() {
  files_ = allocate_array<File>(kMostSampledFiles);
  places_ = allocate_array<Place>(kMostLibraryFunctions);
  known_ = allocate_array<Known>(kMostKnown);
  names_ = allocate_array<char>(kMostNameBytes);
  buffer_ = allocate_array<uint8_t>(kLookBufferBytes);
  name_bytes_ = 1;
  if (files_ != nullptr && places_ != nullptr && known_ != nullptr && names_ != nullptr && buffer_ != nullptr) return true;
  files_ = nullptr;
  return false;
}

uint32_t SampledFiles::add_file(const char* path, bool moves) {
  if (file_count_ == kMostSampledFiles) return kNone;
  File& file = files_[file_count_];
  LibraryHeader& header = file.header;
  for (size_t i = 0; i < sizeof header.magic; ++i) header.magic[i] = kLibraryMagic[i];
  header.record_bytes = sizeof(LibraryFunction);
  header.flags = moves ? kLibraryMoved : 0;
  name_by_path(path, header.file, sizeof header.file);
  file.descriptor = -1;
  return file_count_++;
}

uint32_t SampledFiles::note_library(const Process& process, const Module& module, int descriptor) {
  if (files_ == nullptr) return kNone;
  Mapping mapping;
  static MappedFile mapped;
  if (!find_mapping(process, module.place.text, buffer_, mapping, &mapped) || mapped.path[0] != '/') return kNone;
  const uint64_t text_hash = module.code.header->text_hash;
  for (uint32_t i = 0; i < file_count_; ++i) {
    const File& known = files_[i];
    if (known.header.text_hash == text_hash && known.header.drawn_by == module.name && known.inode == mapping.file &&
        known.device == mapped.device)
      return i;
  }
  const uint32_t file = add_file(mapped.path, true);
  if (file == kNone) return kNone;
  LibraryHeader& header = files_[file].header;
  header.text_hash = text_hash;
  header.drawn_by = module.name;
  if (const size_t length = strlen(mapped.path); length < sizeof header.path) memcpy(header.path, mapped.path, length + 1);
  files_[file].device = mapped.device;
  files_[file].inode = mapping.file;
  char path[32];
  Text(path, sizeof path) << "fd/" << descriptor;
  struct stat status;
  files_[file].descriptor = open_regular(process.directory, path, status);
  return file;
}

// Where the places of a file begin; those of the one behind begin where it ends.
uint32_t SampledFiles::first_of(uint32_t file) const {
  return code::partition_point(place_count_, [&](uint32_t i) { return places_[i].file < file; });
}

void SampledFiles::count_at(uint32_t file, uint64_t at, uint32_t bytes, SampledIn in) {
  const uint32_t found = code::partition_point(
      place_count_, [&](uint32_t i) { return places_[i].file < file || (places_[i].file == file && places_[i].at < at); });
  if (found == place_count_ || places_[found].file != file || places_[found].at != at) {
    if (place_count_ == kMostLibraryFunctions) return;
    memmove(places_ + found + 1, places_ + found, (place_count_ - found) * sizeof(Place));
    ++place_count_;
    places_[found] = {file, bytes, at, at, 0, 0, 0, 0};
  }
  Place& place = places_[found];
  ++(in == SampledIn::kNewest ? place.newest : in == SampledIn::kOlder ? place.older : place.original);
}

void SampledFiles::count_in_library(uint32_t file, uint64_t linked, uint32_t function_bytes, SampledIn in) {
  if (files_ == nullptr || file >= file_count_) return;
  LibraryHeader& header = files_[file].header;
  ++(in == SampledIn::kNewest ? header.newest : in == SampledIn::kOlder ? header.older : header.original);
  if (function_bytes > 0) count_at(file, linked, function_bytes, in);
}

const SampledFiles::Known* SampledFiles::find_known(const Process& process, uint64_t pc, uint64_t now_ns) {
  if (now_ns - known_since_ns_ >= kKnownForNs) known_count_ = next_known_ = 0;
  if (known_count_ == 0) known_since_ns_ = now_ns;
  for (uint32_t i = 0; i < known_count_; ++i)
    if (known_[i].pid == process.pid && pc - known_[i].start < known_[i].end - known_[i].start) return &known_[i];
  Mapping mapping;
  static MappedFile mapped;
  if (!find_mapping(process, pc, buffer_, mapping, &mapped)) return nullptr;
  Known& known = known_[next_known_];
  next_known_ = (next_known_ + 1) % kMostKnown;
  if (known_count_ < kMostKnown) ++known_count_;
  known = {process.pid, kNone, mapping.start, mapping.end, mapped.offset};
  if (mapped.path[0] != '/' || memcmp(mapped.path, kOurMemory, sizeof kOurMemory - 1) == 0) return &known;
  for (uint32_t i = 0; i < file_count_; ++i) {
    const File& file = files_[i];
    if (file.inode == mapping.file && file.device == mapped.device) known.file = i;
  }
  if (known.file != kNone) return &known;
  known.file = add_file(mapped.path, false);
  if (known.file == kNone) return &known;
  File& file = files_[known.file];
  file.device = mapped.device;
  file.inode = mapping.file;
  // As the program sees it, whose folders may be others than ours; and only if it is still the file that is mapped.
  static char path[sizeof "root" + sizeof mapped.path];
  Text(path, sizeof path) << "root" << mapped.path;
  struct stat status;
  file.descriptor = open_regular(process.directory, path, status);
  if (file.descriptor < 0 || status.st_ino == mapping.file) return &known;
  sys::close(file.descriptor);
  file.descriptor = -1;
  return &known;
}

bool SampledFiles::count_elsewhere(const Process& process, uint64_t pc, uint64_t now_ns) {
  if (files_ == nullptr) return false;
  const Known* const known = find_known(process, pc, now_ns);
  if (known == nullptr || known->file == kNone) return false;
  LibraryHeader& header = files_[known->file].header;
  ++header.original;
  // Its functions are known by link-time addresses, and what is known of the sample is an offset in the file.
  if ((header.flags & kLibraryMoved) != 0) return true;
  count_at(known->file, pc - known->start + known->offset, 0, SampledIn::kOriginal);
  return false;
}

// The file's own name; and makes functions of the places that lie in one, as its symbols have them. Of several names for one
// place the first counts.
void SampledFiles::read_names(uint32_t file) {
  const int descriptor = files_[file].descriptor;
  const uint32_t from = first_of(file), to = first_of(file + 1);
  Elf64_Ehdr header;
  Segments segments;
  if (!read_header(descriptor, header, segments)) return;
  const FilePart section_part(descriptor, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  const auto* const sections = section_part.as<Elf64_Shdr>();
  if (sections == nullptr) return;
  read_soname(descriptor, files_[file].header.file, sizeof files_[file].header.file);
  const Elf64_Shdr* const table = table_of_symbols(sections, header.e_shnum);
  if (from == to || table == nullptr) return;
  const Elf64_Shdr& text = sections[table->sh_link];
  const FilePart symbol_part(descriptor, table->sh_offset, table->sh_size), text_part(descriptor, text.sh_offset, text.sh_size);
  const auto* const symbols = symbol_part.as<Elf64_Sym>();
  const char* const strings = text_part.as<char>();
  if (symbols == nullptr || strings == nullptr) return;
  const bool moved = (files_[file].header.flags & kLibraryMoved) != 0;
  for (uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
    const Elf64_Sym& symbol = symbols[k];
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.sh_size) continue;
    uint64_t at = symbol.st_value;
    if (!moved && (symbol.st_size == 0 || symbol.st_size > ~uint32_t{0} || !segments.offset_of(symbol.st_value, at))) continue;
    const uint64_t behind = moved ? at + 1 : at + symbol.st_size;
    uint32_t found = from + code::partition_point(to - from, [&](uint32_t i) { return places_[from + i].at < at; });
    while (found < to && places_[found].at < behind && places_[found].name != 0) ++found;
    if (found == to || places_[found].at >= behind) continue;
    uint32_t length = 0;
    while (symbol.st_name + length < text.sh_size && strings[symbol.st_name + length] != 0 && length + 1 < kMostFunctionName)
      ++length;
    if (length == 0 || name_bytes_ + length + 1 > kMostNameBytes) continue;
    memcpy(names_ + name_bytes_, strings + symbol.st_name, length);
    // All samples of the function are in the first of its places; the others are left without any.
    Place& place = places_[found];
    place.name = name_bytes_;
    name_bytes_ += length + 1;
    if (moved) continue;
    place.linked = symbol.st_value;
    place.bytes = static_cast<uint32_t>(symbol.st_size);
    for (uint32_t i = found + 1; i < to && places_[i].at < behind; ++i) {
      if (places_[i].name != 0) continue;
      place.original += places_[i].original;
      places_[i].original = 0;
      places_[i].name = place.name;
    }
  }
}

bool SampledFiles::write_file(int fd, uint32_t file) {
  LibraryHeader& header = files_[file].header;
  const uint32_t from = first_of(file), to = first_of(file + 1);
  const auto is_told = [&](const Place& place) { return place.bytes > 0 && (place.newest | place.older | place.original) != 0; };
  header.count = header.name_bytes = 0;
  for (uint32_t i = from; i < to; ++i) {
    if (!is_told(places_[i])) continue;
    ++header.count;
    header.name_bytes += static_cast<uint32_t>(strlen(names_ + places_[i].name)) + 1;
  }
  if (header.newest + header.older + header.original == 0) return true;
  if (sys::write_full(fd, &header, sizeof header) != 0) return false;
  uint32_t name = 0;
  for (uint32_t i = from; i < to; ++i) {
    const Place& place = places_[i];
    if (!is_told(place)) continue;
    const LibraryFunction function{place.linked, place.bytes, place.newest, place.older, place.original, name, 0};
    name += static_cast<uint32_t>(strlen(names_ + place.name)) + 1;
    if (sys::write_full(fd, &function, sizeof function) != 0) return false;
  }
  for (uint32_t i = from; i < to; ++i) {
    const char* const text = names_ + places_[i].name;
    if (is_told(places_[i]) && sys::write_full(fd, text, strlen(text) + 1) != 0) return false;
  }
  return true;
}

void SampledFiles::write_to(int fd) {
  for (uint32_t file = 0; file < file_count_; ++file) {
    read_names(file);
    LibraryHeader& header = files_[file].header;
    if ((header.flags & kLibraryMoved) == 0) header.text_hash = hash_of_code(files_[file].descriptor);
    if (files_[file].descriptor >= 0) sys::close(files_[file].descriptor);
    files_[file].descriptor = -1;
  }
  for (uint32_t file = 0; file < file_count_; ++file)
    if (!write_file(fd, file)) return;
  LibraryHeader end{};
  for (size_t i = 0; i < sizeof end.magic; ++i) end.magic[i] = kLibraryMagic[i];
  end.record_bytes = sizeof(LibraryFunction);
  sys::write_full(fd, &end, sizeof end);
}

}  // namespace stab::helper
