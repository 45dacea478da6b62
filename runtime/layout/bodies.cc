#include "runtime/layout/bodies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/arch/layout.h"
#include "runtime/helper/function_names.h"
#include "runtime/helper/script_file.h"
#include "runtime/layout/built_file.h"
#include "runtime/layout/layout_sandbox.h"
#include "runtime/layout/regular_file.h"
#include "runtime/layout/replay.h"

namespace stab::layout {
namespace {

uint64_t mixed(uint64_t hash, uint64_t word) {
  const uint64_t both[] = {hash, word};
  return abi::hash64(both, sizeof both);
}

int32_t distance_at(const uint8_t* field) {
  int32_t distance;
  memcpy(&distance, field, sizeof distance);
  return distance;
}

// What the field leads to, so far as it has a name that lasts from build to build. 0: data, or it is not known.
uint64_t meaning_of(const BuiltFile& of, const Binary& binary, uint64_t at) {
  const abi::CodeHeader& header = *binary.code.header;
  // As if it ended its instruction, as fields of calls and of what reads the global offset table do.
  const uint64_t target = header.text_start + at + 4 + static_cast<uint64_t>(int64_t{distance_at(binary.text + at)});
  if (target < header.text_start || target - header.text_start >= header.text_bytes) return of.import_at(target);
  const uint32_t function = code::function_at(binary.code, target - header.text_start);
  if (function < header.function_count) return binary.code.identities[function];
  const uint64_t into = target - header.text_start;
  const uint64_t slot = arch::slot_of_stub(binary.text + into, header.text_bytes - into, target);
  return slot == 0 ? 0 : of.import_at(slot);
}

// Jump tables don't count, and fields that lead to one do as others of data: whether post-link is sure of a table may depend on
// its neighbours. pre: `copy` has room for the function
uint64_t hash_of(const BuiltFile& of, Contents& contents, const Binary& binary, uint32_t number, uint8_t* copy) {
  const code::Metadata& code = binary.code;
  const abi::CodeFunction& f = code.functions[number];
  memcpy(copy, binary.text + f.start, f.bytes);
  uint64_t meanings = 0;  // a sum, as a callee may move in one build and stay in another: its field is in another list then
  for_each_fixed(code, f, [&](uint64_t at) {
    if (const uint64_t meaning = meaning_of(of, binary, f.start + at); meaning != 0) meanings += mixed(at, meaning);
    memset(copy + at, 0, 4);
  });
  for (uint32_t k = 0; k < f.directed_count; ++k) {
    const abi::DirectedFixup& fixup = code.directed[f.first_directed + k];
    if (fixup.kind() == abi::FixupKind::kPcFunction) meanings += mixed(fixup.at, code.identities[fixup.target()]);
    memset(copy + fixup.at, 0, 4);
  }
  arch::for_each_thread_offset(binary.text + f.start, f.bytes, [&](uint64_t field) { memset(copy + field, 0, 4); });
  arch::for_each_number(binary.text + f.start, f.bytes, [&](uint64_t field) {
    if (contents.may_be_address(static_cast<uint32_t>(distance_at(copy + field)))) memset(copy + field, 0, 4);
  });
  uint64_t constants = 0;
  arch::for_each_constant_read(binary.text + f.start, f.bytes, code.header->text_start + f.start,
                               [&](uint64_t address, unsigned bytes) {
                                 constants = mixed(constants, contents.hash_of_constant(address, bytes));
                               });
  return mixed(mixed(abi::hash64(copy, f.bytes), meanings), constants);
}

// "5f,a17", "-" where it has none that are known
void print_tables(const code::Metadata& code, uint32_t function) {
  const abi::CodeFunction& f = code.functions[function];
  if (f.table_count == 0) putchar('-');
  for (uint32_t k = 0; k < f.table_count; ++k) {
    const abi::CodeTable& table = code.tables[f.first_table + k];
    const uint64_t hash = abi::hash64(code.targets + table.first_target, table.entry_count * sizeof(uint32_t));
    printf(k == 0 ? "%x" : ",%x", static_cast<uint32_t>(hash ^ (hash >> 32)));
  }
}

bool has_constants(const BuiltFile& of, const Binary& binary) {
  return of.constants.ends != nullptr && of.constants.function_count == binary.code.header->function_count;
}

// "5f,0,a17", "-" where there are none, "0" where they are not known
void print_constants(const BuiltFile& of, const Binary& binary, uint32_t function) {
  const ConstantLists& all = of.constants;
  if (!has_constants(of, binary)) {
    putchar('0');
    return;
  }
  const uint32_t first = all.first_of(function), end = all.ends[function];
  if (first == end) putchar('-');
  for (uint32_t i = first; i < end; ++i) printf(i == first ? "%x" : ",%x", all.hashes[i]);
}

void print_functions(const BuiltFile& of, Contents& contents, const Binary& binary, const helper::FunctionNames& names,
                     uint8_t* copy) {
  for (uint32_t i = 0; i < binary.code.header->function_count; ++i) {
    const abi::CodeFunction& f = binary.code.functions[i];
    const char* const name = names.name_of(i);
    if (f.immovable != abi::Immovable::kNo || (name != nullptr && strncmp(name, "stab.", 5) == 0)) continue;
    const unsigned long long start = binary.code.header->text_start + f.start;
    printf("f\t%llx\t%llx\t%llx\t", start, static_cast<unsigned long long>(binary.code.identities[i]),
           static_cast<unsigned long long>(hash_of(of, contents, binary, i, copy)));
    print_tables(binary.code, i);
    putchar('\t');
    print_constants(of, binary, i);
    putchar('\t');
    if (name != nullptr) print_name(name);
    else printf("fn_%llx", start);
    putchar('\n');
  }
}

// Objects of the runtime's own are alike in all programs and libraries: "stab_control", "_ZL10stab_start",
// "_ZZN4stab6helper5serveERKNS0_4TaskEE4text", "stab.code_begin.entry".
bool is_runtimes(const char* name) {
  if (strstr(name, "N4stab") != nullptr || strncmp(name, "stab.", 5) == 0) return true;
  if (strncmp(name, "_ZL", 3) == 0) {
    name += 3;
    while (*name >= '0' && *name <= '9') ++name;
  }
  return strncmp(name, "stab_", 5) == 0;
}

// Whether the local symbols from `first` on, up to those of the next source file, are of a file of the runtime's.
bool is_runtimes_file(const BuiltFile& of, size_t first) {
  for (size_t k = first; k < of.local_count && ELF64_ST_TYPE(of.symbols[k].st_info) != STT_FILE; ++k)
    if (of.symbols[k].st_name < of.string_bytes && is_runtimes(of.strings + of.symbols[k].st_name)) return true;
  return false;
}

// What the C library's start files bring: it is in each program, and nobody wrote it.
bool is_of_start_files(const char* name) {
  return strcmp(name, "__abi_tag") == 0 || strcmp(name, "_IO_stdin_used") == 0 || strcmp(name, "completed.0") == 0;
}

// What compilers name by numbers, ".L.str.12": another build's of that name is another one. Functions say what is in those that
// they use (print_constants).
bool is_numbered(const char* name) { return name[0] == '.' && name[1] == 'L'; }

// A table that LLVM has made of one of pointers, "names.rel" or "names.rel.3": distances to what lies elsewhere, which the linker
// has filled in.
bool holds_distances(const char* name) {
  for (const char* at = strstr(name, ".rel"); at != nullptr; at = strstr(at + 1, ".rel"))
    if (at[4] == 0 || at[4] == '.') return true;
  return strncmp(name, "reltable.", 9) == 0;
}

void print_data(const BuiltFile& of, Contents& contents) {
  bool is_ours = false;
  for (size_t k = 0; k < of.symbol_count; ++k) {
    const Elf64_Sym& one = of.symbols[k];
    if (k >= of.local_count) is_ours = false;
    else if (ELF64_ST_TYPE(one.st_info) == STT_FILE) is_ours = is_runtimes_file(of, k + 1);
    const char* const name = of.strings + one.st_name;
    if (is_ours || !of.is_object(one) || is_runtimes(name) || is_of_start_files(name) || is_numbered(name)) continue;
    printf("d\t%llx\t%llu\t%llx\t", static_cast<unsigned long long>(one.st_value),
           static_cast<unsigned long long>(one.st_size),
           static_cast<unsigned long long>(holds_distances(name) ? 0 : contents.hash_of(one)));
    print_name(name);
    putchar('\n');
  }
}

// Functions are known by the identities of the rows of the script's table. False: it has none, or there is no memory.
bool identify_by(int script, code::Metadata& code) {
  static helper::ScriptFile read;
  if (helper::read_script_file(script, abi::CodeMode::kShuffle, read).fault != code::ScriptFault::kNone) return false;
  const uint32_t count = code.header->function_count;
  auto* const identities = static_cast<uint64_t*>(malloc((size_t{count} + 1) * sizeof(uint64_t)));
  if (read.match.count == 0 || identities == nullptr) return false;
  memcpy(identities, code.identities, count * sizeof(uint64_t));
  code::match_identities(read.match, identities, count);
  code.identities = identities;
  return true;
}

}  // namespace

void print_name(const char* name) {
  for (; *name != 0; ++name) putchar(*name > ' ' && *name <= '~' ? *name : '?');
}

bool print_bodies(char* executable, char* script) {
  const int file = open_regular(executable);
  const int table = file >= 0 && script != nullptr ? open_regular(script) : -1;
  if (file < 0 || (script != nullptr && table < 0)) return false;
  if (const char* failed = confine()) return refuse(executable, failed), false;
  static Binary binary;
  static BuiltFile of;
  static helper::FunctionNames names;
  if (const char* lacks = read_binary(file, binary)) return refuse(executable, lacks), false;
  if (binary.code.identities == nullptr)
    return refuse(executable, "it says no identities of its functions; link it again with szc"), false;
  if (script != nullptr && !identify_by(table, binary.code))
    return refuse(script, "it has no match table, or there is not enough memory"), false;
  if (!read_built_file(file, of) || !names.read(file, binary.code)) return refuse(executable, "its symbols can't be read"), false;
  uint8_t* const copy = static_cast<uint8_t*>(malloc(binary.code.header->text_bytes + 1));
  if (copy == nullptr) return refuse(executable, "not enough memory"), false;
  Contents contents(of);
  printf("stab-bodies 3 %llx %s\n", static_cast<unsigned long long>(binary.code.header->text_hash),
         has_constants(of, binary) ? "constants" : "-");
  print_functions(of, contents, binary, names, copy);
  print_data(of, contents);
  return true;
}

}  // namespace stab::layout
