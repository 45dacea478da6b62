// The handshake from the helper's side: receive the program's descriptors, read and check the metadata of its
// executable, make and fill the shared memory, let the program map it. Whatever fails here leaves the program
// running unmoved, with a degradation that says why.
#include "runtime/helper/session.h"

#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/children.h"
#include "runtime/helper/direct_pointers.h"
#include "runtime/helper/handshake.h"
#include "runtime/helper/life.h"
#include "runtime/helper/socket.h"
#include "runtime/helper/switches.h"
#include "runtime/round_up.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

uint8_t* allocate(uint64_t bytes) {
  void* memory = sys::map(nullptr, round_up(bytes, arch::kPage), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  return sys::is_address(memory) ? static_cast<uint8_t*>(memory) : nullptr;
}

struct Received {
  int at[static_cast<int>(Handed::kCount)];
  int& operator[](Handed which) { return at[static_cast<int>(which)]; }
};

// Gives each descriptor its name; the ones not handed are -1, the ones without a name closed.
Received sort_out(uint32_t handed, const int* descriptors, int count) {
  Received out;
  int next = 0;
  for (int i = 0; i < static_cast<int>(Handed::kCount); ++i)
    out.at[i] = (handed >> i & 1) != 0 && next < count ? descriptors[next++] : -1;
  while (next < count) sys::close(descriptors[next++]);
  return out;
}

// The same descriptor, or -1 in place of one that is no file of /proc: reading anything else might wait for ever.
int only_of_proc(int fd) {
  struct statfs system;
  if (fd < 0 || (sys::call(SYS_fstatfs, fd, sys::word(&system)) == 0 && system.f_type == PROC_SUPER_MAGIC)) return fd;
  sys::close(fd);
  return -1;
}

bool is_file(int fd) {
  struct stat status;
  return fd >= 0 && sys::call(SYS_fstat, fd, sys::word(&status)) == 0 && S_ISREG(status.st_mode);
}

const code::LayoutScript* script_of(const Session& session) {
  return session.followed.is_there ? &session.followed.script() : nullptr;
}

bool refuse_script(Session& session, code::ScriptFault fault, uint32_t line = 0) {
  session.followed.verdict = {fault, line};
  return false;
}

// Reads the script, where there is one, and looks whether the settings suit it. False: its verdict says what is wrong.
bool read_script(Session& session, int handed) {
  FollowedScript& followed = session.followed;
  const int file = session.task.script >= 0 ? session.task.script : handed;
  const abi::CodeMode mode = session.hello.settings.code;
  // A launched program's script is its helper's. What it executes inherits the settings alone, and is shuffled.
  const bool is_missed = mode == abi::CodeMode::kDesign && session.task.launched;
  if (file < 0) return !is_missed || refuse_script(session, code::ScriptFault::kMissing);
  if (is_file(file)) followed.verdict = read_script_file(file, mode, followed.file);
  else followed.verdict = {code::ScriptFault::kUnreadable, 0};
  sys::close(file);
  followed.is_there = followed.verdict.fault == code::ScriptFault::kNone;
  return followed.is_there;
}

bool bind_followed(Session& session) {
  if (!session.followed.is_there) return true;
  const Module& program = session.images.program;
  session.followed.verdict = code::bind_script(program.code, name_in, &program.names, session.followed.file.script);
  return session.followed.verdict.fault == code::ScriptFault::kNone;
}

// Whether a script can't be obeyed where no code of the executable moves. Of a host none ever does, and what a script places in
// its libraries is placed.
bool needs_program(const Session& session) {
  const code::LayoutScript& script = session.followed.script();
  const bool names_own = !script.any_binary || script.placed_count + script.counted_count > 0;
  return code::needs_images(script) && (session.hello.of_host == 0 || names_own || script.library_count == 0);
}

// Of a program whose code stays, but whose pads are matched.
void read_identities(Session& session, int executable) {
  if (!session.followed.matches()) return;
  Images& images = session.images;
  (void)read_module_metadata(executable, images.program_memory, images.program.code);
}

// Places functions by the match table, if the script names one. Where that can't be done, they are placed alone.
void match_places(Session& session) {
  if (!session.followed.matches()) return;
  Module& program = session.images.program;
  const code::MatchTable& match = session.followed.file.match;
  const abi::CodeMode mode = session.hello.settings.code;
  const bool draws_order = abi::has_one_layout(mode) || mode == abi::CodeMode::kShuffle;
  if (!session.followed.script().has_match_table) {
    if (draws_order) degrade(*session.control, Degradation::kNotMatched);
    return;
  }
  if (match.count == 0 && program.scratch.order_count == 0) return;  // all that moves is in libraries
  const uint64_t used_bytes = code::slot_bytes(match, program.scratch.frames.total);
  void* const memory = used_bytes == 0 ? nullptr : allocate(code::match_scratch_bytes(match));
  if (memory == nullptr || !code::follow_match(program.code, match, memory, program.scratch))
    return degrade(*session.control, Degradation::kMatchFailed);
  program.used_bytes = used_bytes;
  program.slot_bytes = code::in_strides(used_bytes);
}

// So that pads are drawn by their functions' identities, if the script wants that: by slot. pre: the code's metadata, if it can
// be had, are read
void match_pads(Session& session) {
  const code::Metadata& code = session.images.program.code;
  const uint32_t slots = session.hello.slot_count;
  if (!session.followed.matches() || slots == 0) return;
  if (code.identities == nullptr) return degrade(*session.control, Degradation::kNoIdentities);
  auto* const identities = reinterpret_cast<uint64_t*>(allocate(uint64_t{slots} * sizeof(uint64_t)));
  if (identities == nullptr) return degrade(*session.control, Degradation::kNoIdentities);
  code::identities_of_pads(code, slots, identities);
  code::match_identities(session.followed.file.match, identities, slots);
  session.pad_identities = identities;
}

// Whether exceptions can pass what moves, of the executable or of libraries.
bool may_move(Session& session) {
  const auto refuse = [&session](Degradation why) {
    degrade(*session.control, why);
    return false;
  };
  switch (static_cast<Unwinder>(session.hello.unwinder)) {
    case Unwinder::kFollows: return true;
    case Unwinder::kLlvm: return refuse(Degradation::kNoUnwinder);
    case Unwinder::kNamesHidden: return refuse(Degradation::kNamesHidden);
    case Unwinder::kDynamicWeak: return refuse(Degradation::kDynamicWeak);
    case Unwinder::kReplaced: return refuse(Degradation::kUnwinderReplaced);
    case Unwinder::kOther:
    case Unwinder::kCount: break;
  }
  return refuse(Degradation::kUnwinderOther);
}

bool is_traced(const Process& program) {
  constexpr char kTracer[] = "\nTracerPid:\t";
  char status[1024];
  if (sys::read_small(program.directory, "status", status, sizeof status) <= 0) return false;
  const char* const found = strstr(status, kTracer);
  return found != nullptr && found[sizeof kTracer - 1] != '0';
}

// Whether the program's text isn't its file's any more. Pages of the file's in its place would take back what is written there.
bool is_text_written(const Session& session) {
  const Module& program = session.images.program;
  const abi::CodeHeader& header = *program.code.header;
  const uint64_t address = session.hello.bias + header.text_start;
  uint8_t part[arch::kPage];
  for (uint64_t at = 0; at < header.text_bytes; at += sizeof part) {
    const uint64_t bytes = header.text_bytes - at < sizeof part ? header.text_bytes - at : sizeof part;
    if (sys::pread_full(session.family.program.memory, part, bytes, address + at) != static_cast<long>(bytes)) return false;
    if (memcmp(part, program.original + at, bytes) != 0) return true;
  }
  return false;
}

// Reads and checks everything that moving code needs. False: degradations say why not.
bool read_executable(Session& session, int executable) {
  Control& control = *session.control;
  const auto refuse = [&control](Degradation why) {
    degrade(control, why);
    return false;
  };
  // Frames of libraries may lie on stacks that no thread shows.
  const bool libraries_switch = session.hello.stacks_switch != 0;
  session.images.switches_stacks = libraries_switch || session.hello.of_host == kHostOfStacks;
  if (session.hello.of_host != 0) return false;
  if (session.hello.text_relocations != 0) return refuse(Degradation::kTextRelocations);
  Images& images = session.images;
  Module& program = images.program;
  if (const Degradation why = read_module(executable, images.program_memory, program); why != Degradation::kCount)
    return refuse(why);
  // Breakpoints that a debugger has set before the program began.
  if (is_traced(session.family.program) && is_text_written(session)) return refuse(Degradation::kTextDiffers);

  const abi::CodeHeader& header = *program.code.header;
  if ((header.flags & abi::kCodeWalked) != 0) degrade(control, Degradation::kWalksCode);
  images.switches_stacks = libraries_switch || (header.flags & abi::kCodeSwitchesStacks) != 0;
  CodeDose& dose = control.code;
  dose.functions = header.function_count;
  session.use.text_hash = header.text_hash;
  for (uint32_t i = 0; i < header.function_count; ++i) {
    const uint32_t reason = static_cast<uint32_t>(program.code.functions[i].immovable);
    if (reason != 0 && reason < sizeof dose.not_moved / sizeof dose.not_moved[0]) ++dose.not_moved[reason];
  }
  if (session.hello.settings.perf_map || (session.followed.is_there && code::needs_images(session.followed.script())))
    (void)program.names.read(executable, program.code);  // a map without names is one, too
  if (!bind_followed(session)) return false;
  if (!bind_module(script_of(session), images.program_memory, program)) {
    if (program.slot_bytes == 0 && session.followed.is_there) return refuse_script(session, code::ScriptFault::kTooLarge);
    return refuse(Degradation::kNoNearMemory);
  }
  match_places(session);
  read_direct_pointers(session, executable);
  return program.scratch.order_count > 0;
}

void pin(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sys::call(SYS_sched_setaffinity, 0, sizeof set, sys::word(&set));
}

// Descriptors that travel with Plan.
struct Sent {
  int control = -1;
  int board = -1;
  int images = -1;  // not closed: they grow
  int libraries = -1;
};

// Neither can be mapped if it were to shrink under us, so it can't.
constexpr int kSealAsItIs = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;

bool make_control(Session& session, Sent& sent) {
  constexpr unsigned kCloexec = 1, kAllowSealing = 2;
  const int fd = sys::memfd("stab-control", kCloexec | kAllowSealing);
  if (fd < 0) return false;
  sent.control = fd;
  if (sys::truncate(fd, kControlBytes) != 0 || sys::add_seals(fd, kSealAsItIs) != 0) return false;
  void* memory = sys::map(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  if (!sys::is_address(memory)) return false;
  session.control = static_cast<Control*>(memory);
  return true;
}

// Where files may not be so long, say, there is none, and everything else goes on.
void make_board(Session& session, Sent& sent) {
  constexpr unsigned kCloexec = 1, kAllowSealing = 2;
  const int fd = sys::memfd("stab-board", kCloexec | kAllowSealing);
  if (fd < 0) return;
  if (sys::truncate(fd, progress::kBoardBytes) == 0 && sys::add_seals(fd, kSealAsItIs) == 0) {
    void* memory = sys::map(nullptr, progress::kBoardBytes, PROT_READ, MAP_SHARED, fd);
    if (sys::is_address(memory)) {
      session.board = static_cast<const progress::Board*>(memory);
      sent.board = fd;
      return;
    }
  }
  sys::close(fd);
}

// Makes, maps and fills the images' memory: text, pads, ring. False: no shared memory.
bool make_images(Session& session, bool code, bool pads, Plan& plan) {
  Images& images = session.images;
  const Hello& hello = session.hello;
  Wanted wanted{code, pads};
  Module& program = images.program;
  if (code) {
    wanted.text_start = program.code.header->text_start;
    wanted.text_bytes = program.text_bytes;
    wanted.slot_bytes = program.slot_bytes;
  }
  uint64_t slots_offset = 0;
  if (!make_plan(hello, wanted, plan, slots_offset)) return false;
  const uint64_t fixed_bytes = plan.ring_offset;
  constexpr unsigned kCloexec = 1, kAllowSealing = 2;
  images.memory_fd = sys::memfd_of_code("stab", kCloexec | kAllowSealing);
  if (images.memory_fd < 0 || sys::truncate(images.memory_fd, fixed_bytes) != 0) return false;
  // Written rather than copied into the mapping: the kernel need not clear these pages first.
  if (code && sys::write_full(images.memory_fd, program.original, plan.text_bytes) != 0) return false;
  void* memory = sys::map(nullptr, fixed_bytes + plan.slot_limit * plan.slot_bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE, images.memory_fd);
  if (!sys::is_address(memory)) return false;
  // From here on nobody, root included, can map it writable or write it: the program can't make code writable, ever, and
  // what we read in it is what we wrote. It can't be cut short under us either, but it grows.
  constexpr int kSealFutureWrite = 0x10;
  if (sys::add_seals(images.memory_fd, kSealFutureWrite | F_SEAL_SHRINK) != 0) return false;

  images.shared = static_cast<uint8_t*>(memory);
  images.ring_offset = fixed_bytes;
  program.text = images.shared;
  program.ring = images.shared + fixed_bytes;
  populate(images.shared, fixed_bytes);
  if (plan.pads_bytes > 0 && sys::pread_full(session.family.program.memory, images.shared + plan.pads_offset, plan.pads_bytes,
                                             hello.pads_address) != static_cast<long>(plan.pads_bytes))
    return false;
  if (pads) session.pads = reinterpret_cast<uint32_t*>(images.shared + slots_offset);
  return true;
}

// Where a script places functions, a library that it has no line about stays.
bool moves_libraries(const Session& session) {
  const Hello& hello = session.hello;
  const bool is_wanted = hello.settings.code != abi::CodeMode::kDesign || session.followed.is_about_libraries();
  return hello.may_load != 0 && hello.settings.code != abi::CodeMode::kOff && is_wanted &&
         static_cast<Unwinder>(hello.unwinder) == Unwinder::kFollows;
}

// False: the program is gone. Without a control block the plan is empty, and there is nothing more to say.
bool send_plan(Session& session, const Plan& plan, Sent& sent) {
  int made[static_cast<int>(Made::kCount)];
  int count = 0;
  if (sent.control >= 0) made[count++] = sent.control;
  if (sent.control >= 0 && sent.board >= 0) made[count++] = sent.board;
  if (sent.control >= 0 && sent.images >= 0) made[count++] = sent.images;
  if (sent.control >= 0 && sent.libraries >= 0) made[count++] = sent.libraries;
  const bool done = send_message(session.task.socket, &plan, sizeof plan, made, count);
  if (sent.control >= 0) sys::close(sent.control);
  if (sent.board >= 0) sys::close(sent.board);
  return done;
}

void prepare_looks(Session& session) {
  const Module& program = session.images.program;
  Looks& looks = session.looks;
  looks.looker.main_base = &session.control->main_base;
  looks.looker.signal_return = session.hello.signal_return;
  looks.looker.readable = session.hello.control_address;
  looks.looker.seen = &looks.seen;
  looks.leads_loops = program.moves && ((session.task.switches & kLeadLoops) || session.hello.settings.long_loops);
  if (looks.leads_loops && program.code.header->loop_words == 0) degrade(*session.control, Degradation::kNoLoops);
  looks.looker.buffer = allocate(kLookBufferBytes);
  auto* rows = reinterpret_cast<code::ThreadLedger::Row*>(
      allocate(sizeof(code::ThreadLedger::Row) * code::ThreadLedger::kMaxThreads));
  looks.threads.bind(rows);
}

// The program has mapped its images.
void place_program(Session& session, const Plan& plan, const Mapped& mapped) {
  Images& images = session.images;
  Module& program = images.program;
  Control& control = *session.control;
  program.moves = true;
  program.ring_address = mapped.ring_address;
  program.executed_address = session.hello.control_address + offsetof(Control, executed);
  control.ring_address = mapped.ring_address;
  control.ring_bytes = mapped.slots * program.slot_bytes;
  control.slot_bytes = program.slot_bytes;
  control.text_address = plan.text_address;
  control.text_bytes = program.code.header->text_bytes;
  images.ring.set_limit(mapped.slots);
  program.place.text = plan.text_address;
  program.place.bias = session.hello.bias;
  program.place.entries = session.hello.control_address + offsetof(Control, entries);
  if (counts_pointer_entries(session))
    program.place.pointer_entries = session.hello.control_address + offsetof(Control, pointer_entries);
  session.looks.looker.rings.program = {mapped.ring_address, mapped.slots * program.slot_bytes, program.slot_bytes};
}

// Greets the program and takes in who it is, with what it hands.
bool meet_program(Session& session, Received& received) {
  session.family.own_pid = sys::getpid();
  Greeting greeting;
  greeting.helper_pid = session.family.own_pid;
  name_senders(session.task.socket);
  if (!send_message(session.task.socket, &greeting, sizeof greeting)) return false;
  int descriptors[kMostDescriptors];
  int count = 0, sender = 0;
  // A launcher may start us long before its program; the end of the socket ends the wait.
  constexpr int kForever = 0x7fffffff;
  alignas(Hello) char said[sizeof(Hello)];
  if (!receive_signed(session.task.socket, said, sizeof said, session.task.launched ? kForever : kPatienceMs, descriptors, &count,
                      &sender))
    return false;
  session.begun_ns = sys::monotonic_ns();
  session.has_clock = sys::has_clock();
  Hello& hello = session.hello;
  if (!read_hello(said, sizeof said, session.task.launched, hello)) return false;
  received = sort_out(hello.handed, descriptors, count);
  session.family.program.pid = hello.pid;
  session.family.program.memory = only_of_proc(received[Handed::kMemory]);
  session.family.program.maps = only_of_proc(received[Handed::kMaps]);
  session.family.program.directory = only_of_proc(received[Handed::kDirectory]);
  // The kernel's word for who spoke, where it has one: its end is seen whatever was handed.
  const int pidfd = sender > 0 ? sys::pidfd_open(sender) : -1;
  session.family.pidfd = pidfd >= 0 ? pidfd : received[Handed::kPidfd];
  session.family.numbered = sender == hello.pid && is_numbered(session.family.program);
  begin_finding(session.family);
  if (session.task.report < 0) session.task.report = received[Handed::kReport];
  pin(session.task.cpu >= 0 ? session.task.cpu : hello.settings.helper_cpu);
  return true;
}

// What is to move in the program, and the memory for it. false: a script can't be obeyed, which the plan then says.
bool decide_plan(Session& session, Received& received, Plan& plan) {
  const Hello& hello = session.hello;
  const abi::Settings& wanted = hello.settings;
  const bool scripted = read_script(session, received[Handed::kScript]);
  const bool code = scripted && wanted.code != abi::CodeMode::kOff && may_move(session) &&
                    read_executable(session, received[Handed::kExecutable]);
  // A script that can't be obeyed in code that stays would leave its experiment without what it is about; of one that only
  // matches layouts nothing is lost.
  if (session.followed.is_there && !code && session.followed.verdict.fault == code::ScriptFault::kNone && needs_program(session))
    refuse_script(session, code::ScriptFault::kNoImage);
  const bool draws = abi::draws_pads(wanted.stack);
  const bool pads = draws && hello.slot_count > 0;
  if (pads && scripted && wanted.code == abi::CodeMode::kOff) read_identities(session, received[Handed::kExecutable]);
  if (pads) match_pads(session);
  if (received[Handed::kExecutable] >= 0) sys::close(received[Handed::kExecutable]);
  session.control->stack.slots = hello.slot_count;
  if ((code || pads) && !make_images(session, code, pads, plan)) {
    degrade(*session.control, Degradation::kNoMemfd);
    plan = Plan{};
    session.pads = nullptr;
  }
  if (session.followed.verdict.fault == code::ScriptFault::kNone) return true;
  plan = Plan{};
  plan.script_fault = static_cast<uint32_t>(session.followed.verdict.fault);
  plan.script_line = session.followed.verdict.line;
  session.images.memory_fd = -1;
  return false;
}

// What the program has mapped of the plan is what moves.
void take_mapped(Session& session, const Plan& plan, const Mapped& mapped) {
  const Hello& hello = session.hello;
  Control& control = *session.control;
  constexpr uint64_t kKnown = (uint64_t{1} << static_cast<unsigned>(Degradation::kCount)) - 1;
  __atomic_fetch_or(&control.degradations, hello.degradations | (mapped.degradations & kKnown), __ATOMIC_RELAXED);
  if (plan.pads_bytes > 0 && mapped.pads == 0) session.pads = nullptr;
  if (plan.pads_bytes == 0 && mapped.text == 0) session.pads = nullptr;
  control.nonce = hello.nonce;
  control.program_pid = hello.pid;
  control.helper_pid = session.family.own_pid;
  control.report_state = session.task.report >= 0 ? kReportPending : kReportNobody;
  show_life(control.helper_life);
  if (mapped.board == 0) session.board = nullptr;
  if (mapped.text != 0) place_program(session, plan, mapped);
  if (mapped.libraries == 0) session.images.libraries.memory_fd = -1;
  if (!session.images.program.moves && session.images.libraries.memory_fd < 0) return;
  if (hello.settings.perf_map && !(session.family.numbered && session.images.perf_map.open(hello.pid)))
    degrade(control, Degradation::kNoPerfMap);
  prepare_looks(session);
}

}  // namespace

bool counts_pointer_entries(const Session& session) {
  const abi::CodeMode mode = session.hello.settings.code;
  return (session.task.switches & kTellSamples) != 0 && (mode == abi::CodeMode::kCopy || mode == abi::CodeMode::kDirect);
}

void populate(void* memory, uint64_t bytes) {
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE
  sys::call(SYS_madvise, sys::word(memory), static_cast<long>(bytes), kPopulateWrite);
}

bool shake_hands(Session& session) {
  Received received;
  if (!meet_program(session, received)) return false;
  Plan plan;
  Sent sent;
  if (!make_control(session, sent)) {
    sent.control = -1;
    send_plan(session, plan, sent);
    return false;
  }
  make_board(session, sent);
  // Invariant from here on: the control block is ours to write until the program maps it over its own.
  if (!decide_plan(session, received, plan)) {
    send_plan(session, plan, sent);
    return false;
  }
  if (plan.ring_offset > 0) sent.images = session.images.memory_fd;
  plan.board_bytes = sent.board >= 0 ? progress::kBoardBytes : 0;
  if (moves_libraries(session)) make_library_memory(session, plan);
  sent.libraries = session.images.libraries.memory_fd;
  if (!send_plan(session, plan, sent)) return false;
  Mapped mapped;
  if (!receive_message(session.task.socket, &mapped, sizeof mapped, kPatienceMs) || !is_possible(mapped, plan)) return false;
  take_mapped(session, plan, mapped);
  return true;
}

void send_ready(Session& session) {
  Ready ready;
  ready.moving = session.images.moves;
  session.use.start_ns = sys::monotonic_ns() - session.begun_ns;
  session.use.start_cpu_ns = sys::process_cpu_ns();
  send_message(session.task.socket, &ready, sizeof ready);
  sys::close(session.task.socket);
  session.task.socket = -1;
}

bool has_our_control(const Session& session, const Process& process) {
  uint64_t nonce = 0;
  const uint64_t address = session.hello.control_address + offsetof(Control, nonce);
  return sys::pread_full(process.memory, &nonce, sizeof nonce, address) == sizeof nonce && nonce == session.hello.nonce;
}

}  // namespace stab::helper
