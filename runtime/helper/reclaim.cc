// Finding images to reuse: look at every thread of the program and of its forked children that is not yet known
// to be out of all retired images (ring.h has the argument). What can't be seen now is looked at again the next
// time; only when every thread is out of an image is that image's slot freed. If the program makes code while it runs,
// which may switch stacks, its memory may hold no return address of that image either. What the looks find in images that are
// not freed stays there for a while: its calls are led to the newest (stayers.h).
#include "runtime/helper/children.h"
#include "runtime/helper/resting_stacks.h"
#include "runtime/helper/session.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// A thread that shares a CPU with others may not run for a while: wait for all of them together at most half an
// epoch or this long. What wasn't seen then is looked at in the next epoch.
constexpr uint64_t kPatienceNs = 2'000'000;
// Reading stacks takes a tenth of a millisecond for a few threads. A program whose stacks are as large as its address
// space is not followed to their ends.
constexpr uint64_t kMostReadingCpuNs = 1'000'000'000;
// What fails for a reason that may pass is tried again in the next look: so many in a row say that it doesn't pass. Looks, not
// seconds, since a program or a helper that gets no CPU for seconds fails in nothing.
constexpr uint32_t kMostFailures = 16;

int first_error(const Process& process) {
  return process.directory < 0 ? process.directory : process.memory < 0 ? process.memory : process.maps;
}

// Brings session.family.kin up to date with the pids that children have put into the control block. An error: one of them
// can't be read though it is there.
int open_kin(Session& session) {
  Control& control = *session.control;
  int error = 0;
  for (uint32_t i = 0; i < kMaxKin; ++i) {
    const int32_t pid = __atomic_load_n(&control.kin[i], __ATOMIC_ACQUIRE);
    Process& process = session.family.kin[i];
    if (pid == 0) continue;
    if (pid < 0 || pid == session.family.own_pid) {
      __atomic_store_n(&control.kin[i], 0, __ATOMIC_SEQ_CST);
      continue;
    }
    if (process.pid != pid) {
      close_process(process);
      process.pid = pid;
      if (!open_process(process)) {
        const bool gone = process.directory == -ENOENT || process.memory == -ESRCH || process.maps == -ESRCH ||
                          process.memory == -ENOENT || (process.directory >= 0 && !is_unexeced_fork(process));
        const int failed = first_error(process);
        close_process(process);
        if (!gone) {
          error = failed;
          continue;
        }
      }
    }
    if (process.memory >= 0 && has_our_control(session, process) && !has_left_its_memory(process)) continue;
    close_process(process);
    // A new child may have taken the place of one that is gone.
    int32_t cleared = pid;
    __atomic_compare_exchange_n(&control.kin[i], &cleared, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  }
  return error;
}

// Listing all threads of the family. What is missing from it, or may be: then the round can't say that nobody is in an image.
struct Round {
  Session* session;
  const Process* process = nullptr;
  bool fits = true;
  bool torn = false;
  bool failed = false;
  bool denied = false;

  bool is_complete() const { return fits && !torn && !failed && !denied; }
};

void list_one(void* context, int tid) {
  Round& round = *static_cast<Round*>(context);
  if (round.session->looks.threads.list(round.process->pid, tid) == nullptr) round.fits = false;
}

void list_process(Round& round, const Process& process) {
  round.process = &process;
  const Listing listing = list_threads(process, list_one, &round);
  if (listing == Listing::kTorn) round.torn = true;
  if (listing == Listing::kUnreadable) round.failed = true;
  if (listing == Listing::kDenied) round.denied = true;
}

// False: some threads may not be listed.
bool list_family(Session& session) {
  Control& control = *session.control;
  Round round{&session};
  const int error = open_kin(session);
  if (error != 0) (means_denied(error) ? round.denied : round.failed) = true;
  session.looks.threads.begin_round();
  list_process(round, session.family.program);
  for (const Process& kin : session.family.kin)
    if (kin.pid != 0) list_process(round, kin);
  session.looks.threads.end_round();
  if (round.denied) degrade(control, Degradation::kThreadsDenied);
  if (!round.fits) degrade(control, Degradation::kTooManyThreads);
  session.looks.failures = round.failed ? session.looks.failures + 1 : 0;
  if (session.looks.failures == kMostFailures) degrade(control, Degradation::kThreadsUnreadable);
  if (control.kin_overflowed != 0) degrade(control, Degradation::kForkUnresolved);
  return round.is_complete() && control.kin_overflowed == 0;
}

const Process* process_of(const Session& session, int pid) {
  if (session.family.program.pid == pid) return &session.family.program;
  for (const Process& process : session.family.kin)
    if (process.pid == pid) return &process;
  return nullptr;
}

bool is_out_of_all(const code::ThreadLedger::Row& row, code::SlotSet retired) {
  return (row.out_of & retired) == retired;
}

// Enters what a look found. A thread in doubt stays in the images that it was not seen out of.
void enter(Session& session, code::ThreadLedger::Row& row, Look look, code::SlotSet retired, code::SlotSet live) {
  Control& control = *session.control;
  ++control.code.looks;
  if (look != Look::kUnreadable) row.failures = 0;
  if (look == Look::kSeen || look == Look::kSeenRunning) session.looks.in_use |= live & retired;
  switch (look) {
    case Look::kSeen:
      return code::ThreadLedger::saw(row, retired, live);
    case Look::kSeenRunning:
      return code::ThreadLedger::saw_running(row, retired, live);
    case Look::kGone:
      return code::ThreadLedger::saw_gone(row);
    case Look::kRunning:
    case Look::kBusy:
      break;
    case Look::kUnreadable:
      if (++row.failures == kMostFailures) degrade(control, Degradation::kThreadsUnreadable);
      break;
    case Look::kDenied:
      degrade(control, Degradation::kThreadsDenied);
      break;
    case Look::kTooLarge:
      degrade(control, Degradation::kStacksTooLarge);
      session.looks.gave_up = true;
      break;
  }
  ++control.code.looks_in_doubt;
}

// A sample that has come in since the last time.
void collect(Session& session, code::ThreadLedger::Row& row) {
  const Process* process = process_of(session, row.process);
  if (process == nullptr) return;
  code::SlotSet retired = 0, live = 0;
  const Look look = session.looks.sampler.collect(session.looks.looker, *process, row.thread, false, retired, live);
  if (look != Look::kRunning) enter(session, row, look, retired, live);
}

// The sample that was waited for; of a thread that has none, whether it ended or blocked instead of running on.
void settle(Session& session, code::ThreadLedger::Row& row) {
  const Process* process = process_of(session, row.process);
  if (process == nullptr) return;
  code::SlotSet retired = 0, live = 0;
  Look look = session.looks.sampler.collect(session.looks.looker, *process, row.thread, true, retired, live);
  if (look == Look::kRunning || look == Look::kBusy) {
    retired = session.images.ring.retired();
    look = look_at_blocked(session.looks.looker, *process, row.thread, live);
    if (look == Look::kRunning && has_ended(*process, row.thread)) look = Look::kGone;
    if (look != Look::kRunning && look != Look::kBusy) session.looks.sampler.disarm(row.process, row.thread);
  }
  enter(session, row, look, retired, live);
}

// Looks at a thread, or arms it if it runs.
void look_at(Session& session, code::ThreadLedger::Row& row) {
  const code::SlotSet retired = session.images.ring.retired();
  const Process* process = process_of(session, row.process);
  if (process == nullptr) return;
  code::SlotSet live = 0;
  const Look look = look_at_blocked(session.looks.looker, *process, row.thread, live);
  if (look != Look::kRunning) {
    session.looks.sampler.disarm(row.process, row.thread);
    return enter(session, row, look, retired, live);
  }
  if (session.looks.sampler.is_armed(row.process, row.thread)) return;
  switch (session.looks.sampler.arm(row.process, row.thread, retired)) {
    case Sampler::Arming::kArmed:
      return;
    case Sampler::Arming::kGone:
      return enter(session, row, Look::kGone, retired, 0);
    case Sampler::Arming::kDenied:
      if (has_ended(*process, row.thread)) return enter(session, row, Look::kGone, retired, 0);
      degrade(*session.control, Degradation::kNoSampling);
      return enter(session, row, Look::kBusy, retired, 0);
    case Sampler::Arming::kFull:
      return enter(session, row, Look::kBusy, retired, 0);
  }
}

// Looks at every thread of this round, as long as there is time to read stacks.
void look_at_all(Session& session, uint64_t deadline_ns) {
  code::ThreadLedger& threads = session.looks.threads;
  const code::SlotSet retired = session.images.ring.retired();
  for (uint32_t i = 0; i < threads.size(); ++i) {
    code::ThreadLedger::Row& row = threads.row(i);
    if (session.looks.sampler.is_armed(row.process, row.thread)) collect(session, row);
  }
  // Only so many can be armed at a time: each round begins with others.
  const uint32_t first = static_cast<uint32_t>(session.control->code.scans * Sampler::kMostArmed);
  for (uint32_t i = 0; i < threads.size(); ++i) {
    code::ThreadLedger::Row& row = threads.row((first + i) % threads.size());
    if (session.looks.gave_up) return;
    if (!is_out_of_all(row, retired)) look_at(session, row);
  }
  session.looks.sampler.wait_until(deadline_ns);
  for (uint32_t i = 0; i < threads.size(); ++i) {
    code::ThreadLedger::Row& row = threads.row(i);
    if (session.looks.gave_up) return;
    if (session.looks.sampler.is_armed(row.process, row.thread)) settle(session, row);
  }
}

// After all looks. A fork that began before its thread was looked at is by now either pending or in kin, in this
// order of reading, or at least a child that the kernel lists; one that began later copied a stack that has been
// looked at.
bool no_child_is_missing(Session& session, uint32_t kin_before) {
  constexpr uint64_t kForksTakeNs = 1'000'000'000;  // from the hook before to the hook after, at most
  Control& control = *session.control;
  const bool pending = __atomic_load_n(&control.forks_pending, __ATOMIC_ACQUIRE) != 0;
  if (__atomic_load_n(&control.kin_count, __ATOMIC_ACQUIRE) != kin_before) return false;
  const Children children = find_children(session);
  const bool unreadable = children == Children::kUnreadable;  // for a moment also between vfork and exec
  if (!pending && !unreadable) session.family.pending_since_ns = 0;
  if (children == Children::kNew || children == Children::kTorn) return false;
  if (!pending && !unreadable) return true;
  // Its child may have been killed before it came to its hook: then it is no child any more.
  const uint64_t now = sys::monotonic_ns();
  if (session.family.pending_since_ns == 0) session.family.pending_since_ns = now;
  if (now - session.family.pending_since_ns < kForksTakeNs) return false;
  if (children == Children::kAllKnown) return true;
  degrade(control, Degradation::kForkUnresolved);
  return false;
}

bool code_is_made(Session& session) {
  Looks& looks = session.looks;
  looks.code_is_made = looks.made_code.is_there(session.family, session.images, looks.looker.buffer);
  if (looks.made_code.file_switches_stacks()) session.images.switches_stacks = true;
  return looks.code_is_made;
}

// Of the slots that every thread was seen out of in this round, those that stacks at rest have left, too.
code::SlotSet left_by_resting_stacks(Session& session, code::SlotSet left) {
  Looks& looks = session.looks;
  CodeDose& dose = session.control->code;
  const uint64_t started_ns = sys::process_cpu_ns();
  code::SlotSet in_use = looks.in_use;
  const bool all = left == 0 || search_memory(session, in_use);
  if (left != 0) ++dose.searches;
  looks.search_took_ns = sys::process_cpu_ns() - started_ns;
  dose.search_ns += looks.search_took_ns;
  if (!all) {
    looks.gave_up = true;
    degrade(*session.control, Degradation::kMemoryUnsearched);
    return 0;
  }
  left = looks.clean_rounds.count(left, in_use & session.images.ring.retired());
  if (looks.clean_rounds.proves_switches()) session.images.switches_stacks = true;
  return left;
}

// For whoever asked which functions of the executable stay in old images.
void note_stay(Session& session, uint32_t slot, uint32_t at) {
  Module& program = session.images.program;
  code::ImageEntry entry;
  if (!session.samples.is_on() || !code::find_original(program.slot_memory(static_cast<int>(slot)), at, entry)) return;
  session.samples.saw_stay(code::function_at(program.code, entry.start), session.layouts.image_in[slot], session.layouts.epochs);
}

// The executable's function of a copy in a retired image is led from now on, wherever a copy of it stays.
void follow_loops(Session& session, uint32_t slot, uint32_t at) {
  Module& program = session.images.program;
  code::LongLoops& loops = session.looks.loops;
  code::ImageEntry entry;
  if (!session.looks.leads_loops || !code::find_original(program.slot_memory(static_cast<int>(slot)), at, entry)) return;
  const uint32_t function = code::function_at(program.code, entry.start);
  if (function == program.code.header->function_count) return;
  const code::LongLoops::Following following = loops.follow(program.code, function);
  if (following == code::LongLoops::Following::kBegun || following == code::LongLoops::Following::kKnown)
    loops.note_body(function, slot, entry.body);
}

// Enters the copies in retired images of the module that looks have found.
void enter_stayers_of(Session& session, Module& module) {
  const uint64_t ring_bytes = session.images.ring.made() * module.slot_bytes;
  for (uint32_t place = 0; place < code::SeenCode::kPlaces; ++place) {
    const uint64_t into_ring = session.looks.seen[place] - module.ring_address;
    if (into_ring >= ring_bytes) continue;
    const uint32_t slot = static_cast<uint32_t>(into_ring / module.slot_bytes);
    const uint32_t at = static_cast<uint32_t>(into_ring % module.slot_bytes);
    if ((session.images.ring.retired() >> slot & 1) == 0) continue;
    if (!module.is_library) {
      note_stay(session, slot, at);
      follow_loops(session, slot, at);
    }
    if (module.stayers.add(module.code, slot, module.slot_memory(static_cast<int>(slot)), at))
      ++session.control->code.stayers;
  }
}

// And leads their calls on.
void enter_stayers(Session& session) {
  Looks& looks = session.looks;
  const uint32_t followed = looks.loops.size();
  for_each_moving(session.images, [&session](Module& module) {
    const uint32_t known = module.stayers.size();
    enter_stayers_of(session, module);
    lead_stayers(module, known);
  });
  Module& program = session.images.program;
  if (!looks.leads_loops || !program.moves) return;
  // Nobody is led to the landings of those that are new before they are written.
  const int newest = session.images.ring.newest();
  looks.loops.arrive(program.code, static_cast<uint32_t>(newest), program.place, program.scratch, program.slot_memory(newest),
                     program.image_bytes, followed);
  lead_loops(session);
}

}  // namespace

void lead_loops(Session& session) {
  Module& program = session.images.program;
  const code::Ring& ring = session.images.ring;
  const code::LongLoops& loops = session.looks.loops;
  if (loops.size() == 0) return;
  const uint32_t newest = static_cast<uint32_t>((program.place.slot - program.ring_address) / program.slot_bytes);
  const uint64_t landings = program.place.slot + code::landings_at(program.image_bytes);
  // Of slots that are free nobody has to be led: everybody was seen out of them.
  const code::SlotSet held = ring.retired() | code::SlotSet{1} << ring.newest();
  for (uint32_t slot = 0; slot < ring.made(); ++slot) {
    const int at = static_cast<int>(slot);
    if (slot == newest || (held >> slot & 1) == 0) continue;
    loops.lead(program.code, slot, program.slot_address(at), landings, program.slot_memory(at));
  }
}

void lead_stayers(Module& module, uint32_t first) {
  for (uint32_t i = first; i < module.stayers.size(); ++i) {
    const code::Stayer& stayer = module.stayers[i];
    const int slot = static_cast<int>(stayer.slot);
    code::lead_calls(module.code, stayer, module.slot_address(slot), module.place, module.scratch, module.original,
                     module.slot_memory(slot));
  }
}

bool any_kin(Session& session) {
  open_kin(session);
  for (const int32_t& pid : session.control->kin)
    if (__atomic_load_n(&pid, __ATOMIC_ACQUIRE) != 0) return true;
  return __atomic_load_n(&session.control->forks_pending, __ATOMIC_ACQUIRE) != 0;
}

void forget_gone_kin(Session& session) {
  const uint32_t count = __atomic_load_n(&session.control->kin_count, __ATOMIC_ACQUIRE);
  if (count == session.family.kin_count_seen) return;
  session.family.kin_count_seen = count;
  open_kin(session);
}

// Which it may begin to do when a library comes.
bool switches_stacks(Session& session) {
  if (__atomic_load_n(&session.control->orders.stacks_switch, __ATOMIC_SEQ_CST) != 0) session.images.switches_stacks = true;
  return session.images.switches_stacks;
}

void reclaim(Session& session) {
  Control& control = *session.control;
  if (session.images.ring.retired() == 0) return;
  if (!switches_stacks(session) && session.family.numbered && code_is_made(session)) session.looks.threads.doubt();
  if (switches_stacks(session)) {
    degrade(control, Degradation::kSwitchesStacks);
    return;
  }
  if (!session.family.numbered) {
    degrade(control, Degradation::kForeignNumbers);
    return;
  }
  const uint64_t started_ns = sys::monotonic_ns();
  session.looks.looked_ns = started_ns;
  session.looks.looker.give_up_cpu_ns = sys::process_cpu_ns() + kMostReadingCpuNs;
  session.looks.gave_up = false;
  session.looks.seen.clear();
  ++control.code.scans;
  session.samples.begin_look();
  session.looks.in_use = 0;

  const uint32_t kin_before = __atomic_load_n(&control.kin_count, __ATOMIC_ACQUIRE);
  const bool complete = list_family(session);
  session.looks.sampler.forget_ended(session.looks.threads);

  const uint64_t half_epoch_ns = session.hello.settings.epoch_ns / 2;
  const uint64_t deadline_ns = started_ns + (half_epoch_ns < kPatienceNs ? half_epoch_ns : kPatienceNs);
  look_at_all(session, deadline_ns);

  code::SlotSet left = complete ? session.looks.threads.out_of_all() & session.images.ring.retired() : 0;
  const bool was_made = session.looks.code_is_made;
  if (was_made) left = left_by_resting_stacks(session, left);
  // Code that has come since the threads were looked at may have switched stacks since.
  if (complete && !switches_stacks(session) && no_child_is_missing(session, kin_before) &&
      (was_made || (!code_is_made(session) && !session.images.switches_stacks))) {
    session.images.ring.release(left);
    for_each_moving(session.images, [left](Module& module) { module.stayers.forget(left); });
  }
  enter_stayers(session);
  session.looks.look_took_ns = sys::monotonic_ns() - started_ns;
  control.code.scan_ns += session.looks.look_took_ns;
}

}  // namespace stab::helper
