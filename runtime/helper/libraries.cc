// What the program says of a library is held against what there is: the file is read through the program's own descriptor, and
// the bytes that its metadata describes must be those that lie in the program's memory. Numbers that it writes are read once.
#include "runtime/helper/libraries.h"

#include <string.h>
#include <sys/stat.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/handshake.h"
#include "runtime/helper/children.h"
#include "runtime/helper/library_name.h"
#include "runtime/helper/look.h"
#include "runtime/helper/session.h"
#include "runtime/helper/text.h"
#include "runtime/round_up.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// Address space alone: of the memory what is written is taken. The first is enough for as many as move at a time, each with the
// largest ring. The smaller ones are for limits on it.
constexpr uint64_t kRooms[] = {uint64_t{32} << 30, uint64_t{2} << 30, uint64_t{512} << 20, uint64_t{128} << 20};
uint32_t step_of(const Control& control) { return __atomic_load_n(&control.library.step, __ATOMIC_SEQ_CST); }

// Where the program has given up, what it waited for is not told.
void go_on(Control& control, uint32_t from, uint32_t to) {
  __atomic_compare_exchange_n(&control.library.step, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  sys::futex_wake(&control.library.step);
}

// What can't be read of a program that ends while one of its threads loads a library is no fault of its run. Its descriptors
// may go before its memory: /proc/PID/fd has those of the first thread. A program that had no /proc to open is never seen to end.
void degrade_if_alive(Session& session, Degradation why) {
  const Process& program = session.family.program;
  const bool was_seen = program.directory >= 0 && program.memory >= 0;
  if (!was_seen || (!is_ending(program) && is_alive(program, session.hello.control_address))) degrade(*session.control, why);
}

// Whether a table of this function has the targets in the program's memory that the metadata tell.
bool has_table(const Session& session, const code::Metadata& code, const abi::CodeFunction& f, const abi::CodeTable& table,
               uint64_t bias) {
  constexpr uint32_t kAtATime = 512;
  static uint8_t entries[kAtATime * sizeof(uint64_t)];
  const bool relative = table.kind == abi::TableKind::kRelative32;
  const uint64_t width = relative ? sizeof(uint32_t) : sizeof(uint64_t);
  const uint64_t base = code.header->text_start + f.start + (relative ? uint64_t{0} - table.address : bias);
  for (uint32_t i = 0; i < table.entry_count; ++i) {
    const uint32_t left = table.entry_count - i, in_part = i % kAtATime;
    const uint64_t bytes = (left < kAtATime ? left : kAtATime) * width, address = bias + table.address + i * width;
    if (in_part == 0 && sys::pread_full(session.family.program.memory, entries, bytes, address) != static_cast<long>(bytes))
      return false;
    const uint64_t wanted = base + code.targets[table.first_target + i];
    if (memcmp(entries + in_part * width, &wanted, width) != 0) return false;
  }
  return true;
}

// Another build of a library may have the same text and other tables.
bool has_tables(const Session& session, const code::Metadata& code, uint64_t bias) {
  for (uint32_t i = 0; i < code.header->function_count; ++i) {
    const abi::CodeFunction& f = code.functions[i];
    for (uint32_t k = 0; k < f.table_count; ++k)
      if (!has_table(session, code, f, code.tables[f.first_table + k], bias)) return false;
  }
  return true;
}

// Whether the program has the code there that was read of a file.
bool is_of_file(const Session& session, const Module& module, uint64_t bias) {
  constexpr uint64_t kAtATime = 64 * 1024;
  static uint8_t bytes[kAtATime];
  const uint64_t all = module.code.header->text_bytes;
  for (uint64_t at = 0; at < all;) {
    const uint64_t step = all - at < kAtATime ? all - at : kAtATime;
    const uint64_t address = bias + module.code.header->text_start + at;
    if (sys::pread_full(session.family.program.memory, bytes, step, address) != static_cast<long>(step)) return false;
    if (memcmp(bytes, module.original + at, step) != 0) return false;
    at += step;
  }
  return has_tables(session, module.code, bias);
}

// All zero: it is not known.
FileStamp stamp_of(int file) {
  struct stat status;
  if (sys::call(SYS_fstat, file, sys::word(&status)) != 0) return {};
  constexpr uint64_t kSecond = 1'000'000'000;
  const auto ns = [](const timespec& t) { return static_cast<uint64_t>(t.tv_sec) * kSecond + static_cast<uint64_t>(t.tv_nsec); };
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size), ns(status.st_mtim), ns(status.st_ctim)};
}

// So that another build of the library, in a run that this one is matched with, has its functions where they lie here, as far as
// that can be without a table of both. False: an image would be too large.
bool match_library(const Session& session, Module& module) {
  if (!session.followed.matches() || !session.followed.script().has_match_table) return true;
  const uint64_t longer = round_up(code::follow_identities(module.code, module.scratch), arch::kPage);
  module.used_bytes += longer;
  module.slot_bytes += longer;
  return module.slot_bytes < uint64_t{1} << 30;
}

// What the layout script says of a library, bound to its code; nullptr: nothing. Where it can't be obeyed the control block says
// why, and the program ends. `address`: of its text in the program
const code::LayoutScript* script_about(Session& session, int file, uint64_t address, Library& library) {
  FollowedScript& followed = session.followed;
  Module& module = library.module;
  char name[sizeof LibraryHeader::file] = "";
  Mapping mapping;
  static MappedFile mapped;
  if (find_mapping(session.family.program, address, session.looks.looker.buffer, mapping, &mapped))
    name_by_path(mapped.path, name, sizeof name);
  read_soname(file, name, sizeof name);
  auto* const script = reinterpret_cast<code::LayoutScript*>(library.memory.allocate(sizeof(code::LayoutScript)));
  if (script == nullptr) {
    degrade(*session.control, Degradation::kLibraryNoMemory);
    return nullptr;
  }
  (void)code::parse_script(followed.file.text, followed.file.text_bytes, *script, name);
  if (script->placed_count == 0) return nullptr;
  (void)module.names.read(file, module.code);
  const code::ScriptVerdict verdict = code::bind_script(module.code, name_in, &module.names, *script);
  if (verdict.fault == code::ScriptFault::kNone) return script;
  session.control->script_line = verdict.line;
  session.control->script_fault = static_cast<uint32_t>(verdict.fault);
  return nullptr;
}

// What the program has open under this descriptor; negative: it can't be read.
int open_in_program(const Session& session, int descriptor) {
  char path[32];
  Text(path, sizeof path) << "fd/" << descriptor;
  return sys::open_at(session.family.program.directory, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
}

// False: the library's code stays, and where that is no choice of its makers' there is a degradation.
bool read_library(Session& session, int file, uint64_t bias, Library& library) {
  library.memory.release();
  library.is_read = library.has_moved = false;
  library.module = Module{};
  library.stamp = stamp_of(file);
  Module& module = library.module;
  const Degradation why = read_module(file, library.memory, module);
  bool done = why == Degradation::kCount;
  const code::LayoutScript* script = nullptr;
  const bool by_script = session.hello.settings.code == abi::CodeMode::kDesign;
  if (done && by_script) script = script_about(session, file, bias + module.code.header->text_start, library);
  if (done && script == nullptr && session.hello.settings.perf_map) (void)module.names.read(file, module.code);
  if (done && by_script && script == nullptr) return false;
  if (done) {
    // Whether it moves or not, its stacks are among those that are looked at.
    if ((module.code.header->flags & abi::kCodeSwitchesStacks) != 0) session.images.switches_stacks = true;
    done = bind_module(script, library.memory, module) && match_library(session, module);
    if (!done) degrade(*session.control, Degradation::kLibraryNoMemory);
  } else if (why == Degradation::kNoNearMemory) {
    degrade(*session.control, Degradation::kLibraryNoMemory);
  } else if (why != Degradation::kNoMetadata) {
    degrade_if_alive(session, Degradation::kLibraryUnread);
  }
  library.is_read = done && module.scratch.order_count > 0;
  return library.is_read;
}

// Makes the library's module say what the program has there, which is the file under this descriptor; what was read of that file
// serves again. False: as of read_library().
bool know_library(Session& session, int descriptor, uint64_t bias, Library& library) {
  const int file = open_in_program(session, descriptor);
  if (file < 0) {
    degrade_if_alive(session, Degradation::kLibraryUnread);
    return false;
  }
  const FileStamp stamp = stamp_of(file);
  const bool is_known =
      library.is_read && stamp.inode != 0 && stamp == library.stamp && is_of_file(session, library.module, bias);
  const bool is_read = is_known || read_library(session, file, bias, library);
  sys::close(file);
  if (is_known || !is_read) return is_known;
  if (is_page(bias + library.module.code.header->text_start) && is_of_file(session, library.module, bias)) return true;
  degrade_if_alive(session, Degradation::kLibraryUnread);
  return false;
}

// How many slots its images are to have: as many as the ring may get, which becomes smaller for a large library. 0: a ring that
// is larger already has no room.
uint64_t slots_for(Session& session, const Module& module) {
  code::Ring& ring = session.images.ring;
  const uint64_t most = most_slots(module.slot_bytes);
  const uint64_t limit = ring.limit() == 0 ? kMaxSlots : ring.limit();
  uint64_t slots = most < limit ? most : limit;
  if (slots < ring.made()) slots = ring.made();
  return slots * module.slot_bytes < uint64_t{1} << 31 ? slots : 0;
}

// A part of the memory for text and slots. kCount: it is there.
Degradation give_memory(Session& session, Library& library) {
  Libraries& all = session.images.libraries;
  const uint64_t slots = slots_for(session, library.module);
  const uint64_t wanted = library.module.text_bytes + slots * library.module.slot_bytes;
  if (slots == 0) return Degradation::kLibraryOutOfReach;
  library.slots = slots;
  if (library.bytes >= wanted) return Degradation::kCount;
  if (wanted > all.room - all.used || sys::truncate(all.memory_fd, all.used + wanted) != 0) return Degradation::kLibraryNoMemory;
  library.offset = all.used;
  library.bytes = wanted;
  all.used += wanted;
  return Degradation::kCount;
}

// From kMoveAsked to kMovePlanned. False: its code stays.
bool plan_library(Session& session, uint32_t place) {
  Control& control = *session.control;
  code::LibraryMove& asked = control.library;
  Libraries& all = session.images.libraries;
  const uint64_t bias = __atomic_load_n(&asked.bias, __ATOMIC_RELAXED);
  if (all.memory_fd < 0 || session.images.at_home || !is_page(bias)) return false;
  Library& library = all.all[place];
  all.planned = code::kMaxLibraries;
  if (library.module.moves) return false;
  if (place >= all.count) all.count = place + 1;
  const int descriptor = __atomic_load_n(&asked.file, __ATOMIC_RELAXED);
  if (!know_library(session, descriptor, bias, library)) return false;
  if (const Degradation why = give_memory(session, library); why != Degradation::kCount) {
    degrade(control, why);
    return false;
  }
  Module& module = library.module;
  module.is_library = true;
  module.name = __atomic_load_n(&asked.name, __ATOMIC_RELAXED);
  module.text = all.shared + library.offset;
  module.ring = module.text + module.text_bytes;
  module.text_replaced = false;
  module.place.bias = bias;
  module.place.text = bias + module.code.header->text_start;
  library.has_moved = false;
  library.sampled_file = session.samples.note_library(session.family.program, module, descriptor);
  memcpy(module.text, module.original, module.text_bytes);
  asked.text_address = module.place.text;
  asked.text_bytes = module.text_bytes;
  asked.text_offset = library.offset;
  asked.ring_offset = library.offset + module.text_bytes;
  asked.slot_bytes = module.slot_bytes;
  asked.slots = library.slots;
  all.planned = place;
  return true;
}

void tell_looks(Session& session) {
  RingPlaces& rings = session.looks.looker.rings;
  rings.clear_libraries();
  const Libraries& all = session.images.libraries;
  for (uint32_t i = 0; i < all.count; ++i) {
    const Module& module = all.all[i].module;
    if (module.moves) rings.add_library({module.ring_address, all.all[i].slots * module.slot_bytes, module.slot_bytes});
  }
}

void note_obeyed(FollowedScript& followed, const code::LayoutScript& script) {
  for (uint32_t i = 0; i < script.placed_count; ++i)
    followed.obeyed[script.placed[i].number / 64] |= uint64_t{1} << script.placed[i].number % 64;
}

void count_functions(Session& session) {
  CodeDose& dose = session.control->code;
  uint32_t functions = 0, moved = 0;
  for_each_moving(session.images, [&](const Module& module) {
    if (!module.is_library) return;
    functions += module.code.header->function_count;
    moved += module.scratch.order_count;
  });
  if (functions < dose.library_functions) return;
  dose.library_functions = functions;
  dose.library_functions_moved = moved;
}

// From kMoveMapped to kMoveIdle. False: there is no image of it.
bool move_library(Session& session) {
  code::LibraryMove& asked = session.control->library;
  Images& images = session.images;
  const uint32_t place = images.libraries.planned;
  images.libraries.planned = code::kMaxLibraries;
  if (place == code::kMaxLibraries) return false;
  Library& library = images.libraries.all[place];
  Module& module = library.module;
  module.ring_address = __atomic_load_n(&asked.ring_address, __ATOMIC_RELAXED);
  const uint64_t control_address = __atomic_load_n(&asked.control_address, __ATOMIC_RELAXED);
  if (!is_page(module.ring_address) || !is_page(control_address) || module.ring_address == 0) return false;
  // It may have grown while the program mapped what was planned.
  if (library.slots < images.ring.made()) return false;
  module.executed_address = control_address + offsetof(Control, executed);
  if (counts_pointer_entries(session)) module.place.pointer_entries = control_address + offsetof(Control, pointer_entries);
  if (images.ring.limit() == 0 || library.slots < images.ring.limit())
    images.ring.set_limit(static_cast<uint32_t>(library.slots));
  module.stayers = code::Stayers{};
  module.moves = true;
  tell_looks(session);
  if (!begin_module(session, module)) {
    module.moves = false;
    tell_looks(session);
    degrade(*session.control, Degradation::kLibraryNoMemory);
    return false;
  }
  library.has_moved = true;
  library.first_image = session.layouts.image;
  session.layouts.log.note_image(session.layouts.image, images.ring.newest());
  add(session.control->code.libraries_moved);
  count_functions(session);
  if (module.scratch.script != nullptr) note_obeyed(session.followed, *module.scratch.script);
  return true;
}

// Of the file that is mapped where the library begins, in front of its text. False: there is none, or a report would have to
// escape it.
bool find_path(const Session& session, const Library& library, char (&to)[sizeof MovedFile::path]) {
  Mapping mapping;
  static MappedFile mapped;
  const char* found = session.samples.path_of(library.sampled_file);
  if (found == nullptr || *found == 0) {
    const Module& module = library.module;
    if (!find_mapping(session.family.program, module.place.bias, session.looks.looker.buffer, mapping, &mapped)) return false;
    found = mapped.path;
  }
  size_t length = 0;
  for (; found[length] != 0; ++length)
    if (found[length] < ' ' || found[length] > '~' || found[length] == '"' || found[length] == '\\') return false;
  if (*found != '/' || length >= sizeof to) return false;
  memcpy(to, found, length + 1);
  return true;
}

}  // namespace

void make_library_memory(Session& session, Plan& plan) {
  constexpr unsigned kCloexec = 1, kAllowSealing = 2;
  constexpr int kSealFutureWrite = 0x10;
  Libraries& all = session.images.libraries;
  const int fd = sys::memfd_of_code("stab-libraries", kCloexec | kAllowSealing);
  if (fd < 0) return;
  for (const uint64_t room : kRooms) {
    void* const memory = sys::map(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
    if (!sys::is_address(memory)) continue;
    // As the executable's images: nobody but this mapping writes it, ever.
    if (sys::truncate(fd, arch::kPage) != 0 || sys::add_seals(fd, kSealFutureWrite | F_SEAL_SHRINK) != 0) break;
    void* const places = sys::map(nullptr, sizeof(Library) * code::kMaxLibraries, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!sys::is_address(places)) break;
    all.all = static_cast<Library*>(places);
    all.memory_fd = fd;
    all.shared = static_cast<uint8_t*>(memory);
    all.room = room;
    plan.library_bytes = room;
    return;
  }
  sys::close(fd);
}

void serve_library(Session& session) {
  Control& control = *session.control;
  const uint32_t step = step_of(control);
  if (step != code::kMoveAsked && step != code::kMoveMapped && step != code::kMoveLook) return;
  if (step == code::kMoveLook) {
    // Where the kernel doesn't tell, those that are announced have to do, as when images are used again (reclaim.cc).
    const Children children = find_children(session);
    const bool all_known = children == Children::kAllKnown || children == Children::kUnknown;
    __atomic_store_n(&control.library.moves, all_known ? 1u : 0u, __ATOMIC_RELAXED);
    return go_on(control, step, code::kMoveIdle);
  }
  if (step == code::kMoveAsked) {
    const uint32_t place = __atomic_load_n(&control.library.place, __ATOMIC_RELAXED);
    const bool planned = place < code::kMaxLibraries && plan_library(session, place);
    return go_on(control, step, planned ? code::kMovePlanned : code::kMoveIdle);
  }
  __atomic_store_n(&control.library.moves, move_library(session) ? 1u : 0u, __ATOMIC_RELAXED);
  go_on(control, step, code::kMoveIdle);
}

uint32_t tell_libraries(const Session& session, MovedFile* to) {
  const Libraries& all = session.images.libraries;
  uint32_t told = 0;
  for (uint32_t i = 0; i < all.count; ++i) {
    const Library& library = all.all[i];
    const Module& module = library.module;
    if (!library.has_moved) continue;
    MovedFile& file = to[told++];
    if (!find_path(session, library, file.path)) file.path[0] = 0;
    file.text_hash = module.code.header->text_hash;
    file.drawn_by = module.name;
    file.text_address = module.place.text;
    file.ring_address = module.ring_address;
    file.slot_bytes = module.slot_bytes;
    file.first_image = library.first_image;
  }
  return told;
}

void let_libraries_go(Session& session) {
  Libraries& all = session.images.libraries;
  bool went = false;
  for (uint32_t i = 0; i < all.count; ++i) {
    const uint32_t state = __atomic_load_n(&session.control->libraries[i].state, __ATOMIC_SEQ_CST);
    if (!all.all[i].module.moves || state == code::kLibraryMoves) continue;
    // What was sampled in it so far.
    if (!went) session.samples.take(session.family, session.images);
    all.all[i].module.moves = false;
    went = true;
  }
  if (went) tell_looks(session);
}

}  // namespace stab::helper
