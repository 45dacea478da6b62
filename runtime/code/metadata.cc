// A damaged or foreign stab_code must never make a program crash: everything the image builder will rely on
// is checked here, once, and what fails makes the program run unmoved.
#include "runtime/code/metadata.h"

#include <elf.h>

#include "runtime/arch/arch.h"
#include "runtime/code/partition_point.h"
#include "runtime/round_up.h"
#include "runtime/sections_abi.h"

namespace stab::code {
namespace {

bool same_bytes(const char* a, const char* b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

// [first, first + count) inside [0, all).
bool inside(uint64_t first, uint64_t count, uint64_t all) { return first <= all && count <= all - first; }

bool fixed_list_fits(const Metadata& code, const abi::CodeFunction& f) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < f.fixed_count; ++i) {
    const uint16_t step = code.fixed[f.first_fixed + i];
    at += step;
    if (at + (step != abi::kFixedSkip ? 4 : 0) > f.bytes) return false;
  }
  return true;
}

bool directed_fit(const Metadata& code, const abi::CodeFunction& f) {
  for (uint32_t i = 0; i < f.directed_count; ++i) {
    const abi::DirectedFixup& fixup = code.directed[f.first_directed + i];
    if (uint64_t{fixup.at} + 4 > f.bytes) return false;
    switch (fixup.kind()) {
      case abi::FixupKind::kPcFunction:
        if (fixup.target() >= code.header->function_count) return false;
        break;
      case abi::FixupKind::kPcTable:
      case abi::FixupKind::kAbsTable:
        // A function refers to its own tables only.
        if (fixup.target() < f.first_table || fixup.target() >= uint64_t{f.first_table} + f.table_count) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

// Where the lists of the functions so far end.
struct Ends {
  uint64_t text = 0;
  uint64_t directed = 0, fixed = 0, tables = 0, targets = 0;
};

// Whether a list begins where the one before ended; that end is moved to this one's. An empty list may be anywhere.
bool follows(uint64_t first, uint64_t count, uint64_t all, uint64_t& end) {
  if (!inside(first, count, all) || (count != 0 && first != end)) return false;
  end += count;
  return true;
}

bool tables_fit(const Metadata& code, const abi::CodeFunction& f, Ends& ends) {
  for (uint32_t i = 0; i < f.table_count; ++i) {
    const abi::CodeTable& table = code.tables[f.first_table + i];
    if (table.kind != abi::TableKind::kRelative32 && table.kind != abi::TableKind::kAbsolute64) return false;
    if (!follows(table.first_target, table.entry_count, code.header->target_count, ends.targets)) return false;
    for (uint32_t k = 0; k < table.entry_count; ++k)
      if (code.targets[table.first_target + k] >= f.bytes) return false;
  }
  return true;
}

bool function_fits(const Metadata& code, const abi::CodeFunction& f, Ends& ends) {
  const abi::CodeHeader& header = *code.header;
  if (f.start < ends.text || !inside(f.start, f.bytes, header.text_bytes)) return false;
  ends.text = uint64_t{f.start} + f.bytes;
  if (f.immovable != abi::Immovable::kNo) return f.directed_count == 0 && f.fixed_count == 0 && f.table_count == 0;
  const uint64_t entry = header.text_start + f.start;
  if (!arch::takes_entry_jump(entry, f.bytes)) return false;
  return follows(f.first_directed, f.directed_count, header.directed_count, ends.directed) &&
         follows(f.first_fixed, f.fixed_count, header.fixed_count, ends.fixed) &&
         follows(f.first_table, f.table_count, header.table_count, ends.tables) && tables_fit(code, f, ends) &&
         directed_fit(code, f) && fixed_list_fits(code, f);
}

// With what lies between them and the words about loops.
uint64_t fixed_bytes(const abi::CodeHeader& header) {
  const uint64_t bytes = uint64_t{header.fixed_count} * sizeof(uint16_t);
  return header.loop_words == 0 ? bytes : (bytes + 3) & ~uint64_t{3};
}

// pre: the functions fit
bool loops_fit(Metadata& code, const uint32_t* words) {
  const uint32_t all = code.header->loop_words;
  if (all == 0) return true;
  constexpr uint32_t kRecordWords = sizeof(abi::LoopRecord) / sizeof(uint32_t);
  if (words[0] > (all - 1) / kRecordWords) return false;
  code.loop_count = words[0];
  code.loops = reinterpret_cast<const abi::LoopRecord*>(words + 1);
  code.points = words + 1 + code.loop_count * kRecordWords;
  const uint32_t point_count = all - 1 - code.loop_count * kRecordWords;
  uint32_t least = 0;      // that the next record's function may be
  uint64_t points_end = 0; // of the records so far
  for (uint32_t i = 0; i < code.loop_count; ++i) {
    const abi::LoopRecord& record = code.loops[i];
    if (record.function < least || record.function >= code.header->function_count) return false;
    least = record.function + 1;
    const abi::CodeFunction& f = code.functions[record.function];
    if (f.immovable != abi::Immovable::kNo || record.point_count > abi::kMostPoints) return false;
    if (!follows(record.first_point, record.point_count, point_count, points_end)) return false;
    uint32_t shorts = 0;
    for (uint32_t k = 0; k < record.point_count; ++k)
      if (!abi::point_fits(f, code.points[record.first_point + k], shorts)) return false;
  }
  return true;
}

// Of everything in front of the identities.
uint64_t bytes_in_front(const abi::CodeHeader& header) {
  return sizeof header + uint64_t{header.function_count} * sizeof(abi::CodeFunction) +
         uint64_t{header.table_count} * sizeof(abi::CodeTable) + uint64_t{header.target_count} * sizeof(uint32_t) +
         uint64_t{header.directed_count} * sizeof(abi::DirectedFixup) + fixed_bytes(header) +
         uint64_t{header.loop_words} * sizeof(uint32_t);
}
uint64_t identities_at(const abi::CodeHeader& header) { return round_up(bytes_in_front(header), 8); }

}  // namespace

uint64_t metadata_bytes(const abi::CodeHeader& header) {
  if (!same_bytes(header.magic, abi::kCodeMagic, sizeof header.magic) || header.version < abi::kOldestCodeVersion ||
      header.version > abi::kCodeVersion || header.header_bytes != sizeof header)
    return 0;
  if ((header.flags & abi::kCodeIdentities) == 0) return bytes_in_front(header);
  return identities_at(header) + uint64_t{header.function_count} * (sizeof(uint64_t) + sizeof(uint32_t));
}

uint64_t pointers_at(const abi::CodeHeader& header) { return round_up(metadata_bytes(header), 8); }

MetadataFault read_metadata(const void* bytes, size_t size, Metadata& out) {
  const abi::CodeHeader* header = static_cast<const abi::CodeHeader*>(bytes);
  const uint64_t wanted = size < sizeof *header ? 0 : metadata_bytes(*header);
  if (wanted == 0) return MetadataFault::kAbsent;
  // Offsets in the text are 32 bits wide, and all of it lies within 2 GiB of the images.
  if (size < wanted || header->text_bytes >= (uint64_t{1} << 31) || header->text_start % arch::kPage != 0)
    return MetadataFault::kMalformed;
  Metadata code;
  code.header = header;
  code.functions = reinterpret_cast<const abi::CodeFunction*>(header + 1);
  code.tables = reinterpret_cast<const abi::CodeTable*>(code.functions + header->function_count);
  code.targets = reinterpret_cast<const uint32_t*>(code.tables + header->table_count);
  code.directed = reinterpret_cast<const abi::DirectedFixup*>(code.targets + header->target_count);
  code.fixed = reinterpret_cast<const uint16_t*>(code.directed + header->directed_count);
  Ends ends;
  for (uint32_t i = 0; i < header->function_count; ++i)
    if (!function_fits(code, code.functions[i], ends)) return MetadataFault::kMalformed;
  const uint8_t* const behind = reinterpret_cast<const uint8_t*>(code.fixed) + fixed_bytes(*header);
  if (!loops_fit(code, reinterpret_cast<const uint32_t*>(behind))) return MetadataFault::kMalformed;
  if ((header->flags & abi::kCodeIdentities) != 0) {
    code.identities = reinterpret_cast<const uint64_t*>(static_cast<const uint8_t*>(bytes) + identities_at(*header));
    code.pads = reinterpret_cast<const uint32_t*>(code.identities + header->function_count);
  }
  out = code;
  return MetadataFault::kNone;
}

void identities_of_pads(const Metadata& code, uint32_t slots, uint64_t* to) {
  for (uint32_t i = 0; i < slots; ++i) to[i] = i;
  for (uint32_t i = 0; i < code.header->function_count; ++i)
    if (code.pads[i] < slots) to[code.pads[i]] = code.identities[i];
}

uint32_t function_at(const Metadata& code, uint64_t start) {
  const uint32_t all = code.header->function_count;
  const uint32_t at = partition_point(all, [&](uint32_t i) { return code.functions[i].start < start; });
  return at < all && code.functions[at].start == start ? at : all;
}

namespace {

// Of sections in memory, or of those that aren't.
template <size_t kNameBytes>
bool find_section(ReadAt read_at, void* context, const char (&name)[kNameBytes], bool in_memory, FileSpan& out) {
  Elf64_Ehdr ehdr;
  if (!read_at(context, &ehdr, sizeof ehdr, 0)) return false;
  if (!same_bytes(reinterpret_cast<const char*>(ehdr.e_ident), ELFMAG, SELFMAG)) return false;
  if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_machine != arch::kElfMachine) return false;
  if (ehdr.e_shentsize != sizeof(Elf64_Shdr) || ehdr.e_shstrndx >= ehdr.e_shnum) return false;
  Elf64_Shdr names;
  if (!read_at(context, &names, sizeof names, ehdr.e_shoff + uint64_t{ehdr.e_shstrndx} * sizeof names)) return false;
  constexpr uint32_t kAtATime = 32;
  Elf64_Shdr sections[kAtATime];
  for (uint32_t first = 0; first < ehdr.e_shnum; first += kAtATime) {
    const uint32_t count = ehdr.e_shnum - first < kAtATime ? ehdr.e_shnum - first : kAtATime;
    if (!read_at(context, sections, count * sizeof sections[0], ehdr.e_shoff + uint64_t{first} * sizeof sections[0]))
      return false;
    for (uint32_t i = 0; i < count; ++i) {
      const Elf64_Shdr& section = sections[i];
      char found[kNameBytes];
      if (section.sh_type != SHT_PROGBITS || ((section.sh_flags & SHF_ALLOC) != 0) != in_memory) continue;
      if (section.sh_name + kNameBytes > names.sh_size) continue;
      if (!read_at(context, found, kNameBytes, names.sh_offset + section.sh_name)) return false;
      if (!same_bytes(found, name, kNameBytes)) continue;
      out = {section.sh_offset, section.sh_size, section.sh_addr};
      return true;
    }
  }
  return false;
}

}  // namespace

bool find_code_section(ReadAt read_at, void* context, FileSpan& out) {
  return find_section(read_at, context, abi::kCodeSection, false, out);
}

bool find_pads_section(ReadAt read_at, void* context, FileSpan& out) {
  return find_section(read_at, context, abi::kPadsSection, true, out);
}

bool has_text_elsewhere(ReadAt read_at, void* context, uint64_t start, uint64_t bytes) {
  FileSpan text;
  return find_section(read_at, context, ".text", true, text) && text.bytes > 0 && text.address - start >= bytes;
}

bool find_text(ReadAt read_at, void* context, uint64_t address, uint64_t& offset) {
  Elf64_Ehdr ehdr;
  if (!read_at(context, &ehdr, sizeof ehdr, 0) || ehdr.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (int i = 0; i < ehdr.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(context, &segment, sizeof segment, ehdr.e_phoff + static_cast<uint64_t>(i) * sizeof segment)) return false;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t page_start = segment.p_vaddr & ~(arch::kPage - 1);
    if (address < page_start || address >= segment.p_vaddr + segment.p_filesz) continue;
    const uint64_t into_file = segment.p_offset - (segment.p_vaddr - page_start);
    offset = into_file + (address - page_start);
    return true;
  }
  return false;
}

}  // namespace stab::code
