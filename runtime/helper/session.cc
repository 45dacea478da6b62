// The handshake from the helper's side: receive the program's descriptors, read and check the metadata of its
// executable, size and fill the shared memory, let the program map it. Whatever fails here leaves the program
// running unmoved, with a degradation that says why.
#include "runtime/helper/session.h"

#include <elf.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/helper/socket.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// Images kept beside each other at most, in bytes: enough for 64 images of most programs and 4 of the largest.
constexpr uint64_t kRingBytes = 256u << 20;
constexpr uint32_t kFewestSlots = 4;

uint64_t round_up_page(uint64_t bytes) { return (bytes + 4095) & ~uint64_t{4095}; }

uint8_t* allocate(uint64_t bytes) {
  void* memory = sys::map(nullptr, round_up_page(bytes), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  return sys::is_address(memory) ? static_cast<uint8_t*>(memory) : nullptr;
}

struct Received {
  int at[static_cast<int>(Handed::kCount)];
  int& operator[](Handed which) { return at[static_cast<int>(which)]; }
};

// Gives each descriptor its name; the ones not handed are -1.
Received sort_out(uint32_t handed, const int* descriptors, int count) {
  Received out;
  int next = 0;
  for (int i = 0; i < static_cast<int>(Handed::kCount); ++i)
    out.at[i] = (handed >> i & 1) != 0 && next < count ? descriptors[next++] : -1;
  return out;
}

bool read_file_at(void* context, void* to, size_t size, uint64_t offset) {
  return sys::pread_full(*static_cast<int*>(context), to, size, offset) == static_cast<long>(size);
}

// The offset in the file of a link-time address that an executable segment holds.
bool find_text(int executable, uint64_t address, uint64_t& offset) {
  Elf64_Ehdr ehdr;
  if (!read_file_at(&executable, &ehdr, sizeof ehdr, 0) || ehdr.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (int i = 0; i < ehdr.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_file_at(&executable, &segment, sizeof segment, ehdr.e_phoff + static_cast<uint64_t>(i) * sizeof segment))
      return false;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t page_start = segment.p_vaddr & ~uint64_t{4095};
    if (address < page_start || address >= segment.p_vaddr + segment.p_filesz) continue;
    const uint64_t into_file = segment.p_offset - (segment.p_vaddr - page_start);
    offset = into_file + (address - page_start);
    return true;
  }
  return false;
}

// A part of the executable in memory, aligned for its structures: mapped where it lies so in the file.
const uint8_t* read_section(int executable, code::FileSpan span) {
  constexpr uint64_t kInPage = 4095;
  struct stat file;
  if (sys::call(SYS_fstat, executable, sys::word(&file)) != 0 || span.bytes > static_cast<uint64_t>(file.st_size) ||
      span.offset > static_cast<uint64_t>(file.st_size) - span.bytes)
    return nullptr;
  if (span.offset % alignof(abi::CodeHeader) == 0) {
    const uint64_t before = span.offset & kInPage;
    void* mapped = sys::map(nullptr, before + span.bytes, PROT_READ, MAP_PRIVATE, executable, span.offset - before);
    if (sys::is_address(mapped)) return static_cast<uint8_t*>(mapped) + before;
  }
  uint8_t* copy = allocate(span.bytes);
  return copy != nullptr && read_file_at(&executable, copy, span.bytes, span.offset) ? copy : nullptr;
}

// Reads and checks everything that moving code needs. False: degradations say why not.
bool read_executable(Session& session, int executable) {
  Control& control = *session.control;
  const auto refuse = [&control](Degradation why) {
    degrade(control, why);
    return false;
  };
  if (executable < 0) return refuse(Degradation::kNoMetadata);
  if (session.hello.text_relocations != 0) return refuse(Degradation::kTextRelocations);
  if (session.hello.foreign_unwinder == 2) return refuse(Degradation::kNamesHidden);
  if (session.hello.foreign_unwinder == 3) return refuse(Degradation::kUnwinderReplaced);
  if (session.hello.foreign_unwinder != 0) return refuse(Degradation::kNoUnwinder);
  code::FileSpan span;
  if (!code::find_code_section(read_file_at, &executable, span)) return refuse(Degradation::kNoMetadata);
  const uint8_t* section = read_section(executable, span);
  if (section == nullptr) return refuse(Degradation::kMetadataMalformed);
  const code::MetadataFault fault = code::read_metadata(section, span.bytes, session.code);
  if (fault != code::MetadataFault::kNone)
    return refuse(fault == code::MetadataFault::kAbsent ? Degradation::kNoMetadata : Degradation::kMetadataMalformed);

  const abi::CodeHeader& header = *session.code.header;
  uint64_t offset = 0;
  if (!find_text(executable, header.text_start, offset)) return refuse(Degradation::kTextDiffers);
  session.text_bytes = round_up_page(header.text_bytes);
  // The very pages that the program executes now, the rest of the last one included. Nobody can write to a running
  // program's file. A file that is shorter than its text would make us fault: its size is checked first.
  struct stat file;
  if (sys::call(SYS_fstat, executable, sys::word(&file)) != 0 ||
      static_cast<uint64_t>(file.st_size) < offset + header.text_bytes)
    return refuse(Degradation::kTextDiffers);
  const void* mapped = sys::map(nullptr, session.text_bytes, PROT_READ, MAP_PRIVATE, executable, offset);
  if (!sys::is_address(const_cast<void*>(mapped))) return refuse(Degradation::kTextDiffers);
  const uint8_t* text = static_cast<const uint8_t*>(mapped);
  const uint64_t hashed_from = header.function_count == 0 ? header.text_bytes : session.code.functions[0].start;
  if (abi::hash64(text + hashed_from, header.text_bytes - hashed_from) != header.text_hash)
    return refuse(Degradation::kTextDiffers);
  session.original = text;

  CodeDose& dose = control.code;
  dose.functions = header.function_count;
  for (uint32_t i = 0; i < header.function_count; ++i) {
    const uint32_t reason = static_cast<uint32_t>(session.code.functions[i].immovable);
    if (reason != 0 && reason < sizeof dose.not_moved / sizeof dose.not_moved[0]) ++dose.not_moved[reason];
  }
  session.slot_bytes = code::slot_bytes(session.code);
  void* scratch = allocate(code::scratch_bytes(session.code) + 8);
  if (session.slot_bytes == 0 || scratch == nullptr) return refuse(Degradation::kNoNearMemory);
  session.scratch = code::bind_scratch(session.code, scratch);
  if (session.hello.settings.perf_map) session.perf_map.read_names(executable, session.code);
  return session.scratch.order_count > 0;
}

void take_program_rights(const Session& session) {
  struct stat owner;
  if (sys::call(SYS_geteuid) != 0) return;
  if (sys::call(SYS_fstat, session.program.directory, sys::word(&owner)) != 0) return;
  if (owner.st_uid == 0) return;
  sys::call(SYS_setgroups, 0, 0);
  sys::call(SYS_setresgid, owner.st_gid, owner.st_gid, owner.st_gid);
  sys::call(SYS_setresuid, owner.st_uid, owner.st_uid, owner.st_uid);
}

void pin(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sys::call(SYS_sched_setaffinity, 0, sizeof set, sys::word(&set));
}

bool share_control(Session& session, int fd) {
  if (fd < 0 || sys::truncate(fd, kControlBytes) != 0) return false;
  void* memory = sys::map(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  if (!sys::is_address(memory)) return false;
  session.control = static_cast<Control*>(memory);
  return true;
}

// Sizes, maps and fills the images' memory: text, pads, ring. False: no shared memory.
bool share_images(Session& session, bool code, bool pads, Plan& plan) {
  const Hello& hello = session.hello;
  const uint64_t text_address = code ? hello.bias + session.code.header->text_start : 0;
  const uint64_t text_bytes = code ? session.text_bytes : 0;
  // Pads between the functions, where a linker merged constants into the text.
  const bool pads_in_text = pads && code && hello.slots_address >= text_address &&
                            hello.slots_address < text_address + text_bytes;
  const uint64_t pads_bytes = pads && !pads_in_text ? hello.pads_bytes : 0;
  uint64_t slot_limit = 0;
  if (code) {
    slot_limit = kRingBytes / session.slot_bytes;
    if (slot_limit < kFewestSlots) slot_limit = kFewestSlots;
    if (slot_limit > kMaxSlots) slot_limit = kMaxSlots;
  }
  const uint64_t fixed_bytes = text_bytes + pads_bytes;
  const uint64_t ring_bytes = slot_limit * session.slot_bytes;
  if (session.images < 0 || sys::truncate(session.images, fixed_bytes) != 0) return false;
  // Written rather than copied into the mapping: the kernel need not clear these pages first.
  if (code && sys::write_full(session.images, session.original, text_bytes) != 0) return false;
  void* memory = sys::map(nullptr, fixed_bytes + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                          session.images);
  if (!sys::is_address(memory)) return false;
  // From here on nobody, root included, can map it writable: the program can't make code writable, ever.
  constexpr int kSealFutureWrite = 0x10;
  sys::add_seals(session.images, kSealFutureWrite);

  session.shared = static_cast<uint8_t*>(memory);
  session.ring_offset = fixed_bytes;
  populate(session.shared, fixed_bytes);
  if (pads_bytes > 0 && sys::pread_full(session.program.memory, session.shared + text_bytes, pads_bytes,
                                        hello.pads_address) != static_cast<long>(pads_bytes))
    return false;
  if (pads) {
    const uint64_t at = pads_in_text ? hello.slots_address - text_address
                                     : text_bytes + (hello.slots_address - hello.pads_address);
    session.pads = reinterpret_cast<uint32_t*>(session.shared + at);
  }
  plan.text_address = text_address;
  plan.text_bytes = text_bytes;
  plan.pads_bytes = pads_bytes;
  plan.pads_offset = text_bytes;
  plan.ring_offset = fixed_bytes;
  plan.slot_bytes = session.slot_bytes;
  plan.slot_limit = slot_limit;
  return true;
}

void prepare_looks(Session& session) {
  session.looker.ring = {session.control->ring_address, session.control->ring_bytes, session.slot_bytes};
  session.looker.main_base = &session.control->main_base;
  session.looker.signal_return = session.hello.signal_return;
  session.looker.seen = &session.seen;
  session.looker.buffer = allocate(kLookBufferBytes);
  auto* rows = reinterpret_cast<code::ThreadLedger::Row*>(
      allocate(sizeof(code::ThreadLedger::Row) * code::ThreadLedger::kMaxThreads));
  session.threads.bind(rows);
}

}  // namespace

void populate(void* memory, uint64_t bytes) {
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE
  sys::call(SYS_madvise, sys::word(memory), static_cast<long>(bytes), kPopulateWrite);
}

bool shake_hands(Session& session) {
  Greeting greeting;
  greeting.helper_pid = sys::getpid();
  if (!send_message(session.socket, &greeting, sizeof greeting)) return false;
  int descriptors[kMostDescriptors];
  int count = 0;
  // A launcher may start us long before its program; the end of the socket ends the wait.
  constexpr int kForever = 0x7fffffff;
  Hello& hello = session.hello;
  if (!receive_message(session.socket, &hello, sizeof hello, session.launched ? kForever : kPatienceMs, descriptors,
                       &count))
    return false;
  session.begun_ns = sys::monotonic_ns();
  if (hello.magic != kProtocolMagic || hello.version != abi::kAbiVersion) return false;
  Received received = sort_out(hello.handed, descriptors, count);
  session.program.pid = hello.pid;
  session.program.memory = received[Handed::kMemory];
  session.program.maps = received[Handed::kMaps];
  session.program.directory = received[Handed::kDirectory];
  session.pidfd = received[Handed::kPidfd];
  session.numbered = is_numbered(session.program);
  session.images = received[Handed::kImages];
  if (session.report < 0) session.report = received[Handed::kReport];
  pin(session.cpu >= 0 ? session.cpu : hello.settings.helper_cpu);
  if (!share_control(session, received[Handed::kControl])) return false;

  // Invariant from here on: the control block is ours to write until the program maps it over its own.
  const abi::Settings& wanted = hello.settings;
  const bool code = wanted.code != abi::CodeMode::kOff && read_executable(session, received[Handed::kExecutable]);
  const bool draws = wanted.stack == abi::StackMode::kOn || wanted.stack == abi::StackMode::kRecursive;
  const bool pads = draws && hello.slot_count > 0;
  if (received[Handed::kExecutable] >= 0) sys::close(received[Handed::kExecutable]);
  session.control->stack.slots = hello.slot_count;
  if (draws && hello.slot_count == 0) degrade(*session.control, Degradation::kNoPads);
  take_program_rights(session);
  Plan plan;
  if ((code || pads) && !share_images(session, code, pads, plan)) {
    degrade(*session.control, Degradation::kNoMemfd);
    plan = Plan{};
    session.pads = nullptr;
  }
  if (!send_message(session.socket, &plan, sizeof plan)) return false;

  Mapped mapped;
  if (!receive_message(session.socket, &mapped, sizeof mapped, kPatienceMs) || mapped.magic != kProtocolMagic ||
      mapped.control == 0)
    return false;
  Control& control = *session.control;
  __atomic_fetch_or(&control.degradations, hello.degradations | mapped.degradations, __ATOMIC_RELAXED);
  if (plan.pads_bytes > 0 && mapped.pads == 0) session.pads = nullptr;
  if (plan.pads_bytes == 0 && mapped.text == 0) session.pads = nullptr;
  control.nonce = hello.nonce;
  control.program_pid = hello.pid;
  control.helper_pid = greeting.helper_pid;
  control.report_state = session.report >= 0 ? kReportPending : kReportNobody;
  session.moves = mapped.text != 0 && mapped.slots >= 2;
  if (!session.moves) return true;
  control.ring_address = mapped.ring_address;
  control.ring_bytes = mapped.slots * session.slot_bytes;
  control.slot_bytes = session.slot_bytes;
  control.text_address = plan.text_address;
  control.text_bytes = session.code.header->text_bytes;
  session.ring.set_limit(mapped.slots);
  if (hello.settings.perf_map && !session.perf_map.open(hello.pid)) degrade(control, Degradation::kNoPerfMap);
  session.place.text = plan.text_address;
  session.place.bias = hello.bias;
  prepare_looks(session);
  return true;
}

void send_ready(Session& session) {
  Ready ready;
  ready.moving = session.moves;
  session.use.start_ns = sys::monotonic_ns() - session.begun_ns;
  session.use.start_cpu_ns = sys::process_cpu_ns();
  send_message(session.socket, &ready, sizeof ready);
  sys::close(session.socket);
  session.socket = -1;
}

bool has_our_control(const Session& session, const Process& process) {
  uint64_t nonce = 0;
  const uint64_t address = session.hello.control_address + offsetof(Control, nonce);
  return sys::pread_full(process.memory, &nonce, sizeof nonce, address) == sizeof nonce && nonce == session.control->nonce;
}

}  // namespace stab::helper
