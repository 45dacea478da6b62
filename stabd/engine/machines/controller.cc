// One round: look at the spool, then at each slot. Every step is on disk before the next begins, and each can be repeated: a
// controller that dies between any two of them, or within a transaction, leaves what the next one goes on from.
#include "stabd/engine/machines/controller.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "stabd/engine/build/slots.h"
#include "stabd/engine/machines/worker_files.h"
#include "stabd/engine/machines/worker_log.h"
#include "stabd/engine/results/node_preflight.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

// A host that has failed so often since the controller began gets no further slot: twice may be an accident.
constexpr int kMostFailures = 2;
// Where a scheduler chooses the host, a slot that fails so often has another reason.
constexpr int kMostSlotFailures = 10;

// A heartbeat comes every 5 s; a file is read no more often.
constexpr std::chrono::seconds kBetweenHeartbeats{5};
// What is torn is hashed again when it has changed. Some file systems show a content late and its time early.
constexpr std::chrono::seconds kHashAgain{30};

// A grant is the experiment's identity and, ascending, the numbers of its blocks; this is the last of them.
std::optional<uint32_t> last_block_of(std::string_view grant) {
  const size_t before = grant.find_last_of(" \n");
  uint32_t block = 0;
  if (before == std::string_view::npos) return {};
  const auto [end, code] = std::from_chars(grant.data() + before + 1, grant.data() + grant.size(), block);
  return code == std::errc() && end == grant.data() + grant.size() ? std::optional(block) : std::nullopt;
}

std::string slot_words(const store::SlotEpochRow& row) {
  return "slot " + std::to_string(row.slot) + ", epoch " + std::to_string(row.epoch) +
         (row.host.empty() ? std::string() : " on " + row.host);
}

}  // namespace

std::string identity_of(const store::ExperimentRow& row, const std::vector<store::BuildRow>& builds) {
  std::string text = row.plan_text + "\n" + std::to_string(row.schedule_fingerprint) + "\n" + std::to_string(row.submitted_at_ns);
  for (const store::BuildRow& build : builds) text += "\n" + build.binary_sha256;
  return worker::sha256(text);
}

std::string difference_of(const std::vector<std::string>& same, const std::map<std::string, std::string>& first,
                          const std::map<std::string, std::string>& other) {
  std::string text;
  const auto value = [](const auto& facts, std::string_view fact) {
    const auto at = facts.find(std::string(fact));
    return at == facts.end() ? std::string("not told") : "'" + at->second + "'";
  };
  for (const plan::SameFact& fact : plan::kSameFacts) {
    if (std::find(same.begin(), same.end(), fact.word) == same.end()) continue;
    const std::string here = value(other, fact.fact), there = value(first, fact.fact);
    if (here != there)
      text += (text.empty() ? "" : "; ") + std::string(fact.word) + " is " + here + ", the first machine's " + there;
  }
  return text;
}

std::string facts_text(const std::map<std::string, std::string>& facts) {
  std::string text;
  for (const auto& [name, value] : facts) {
    std::string line = name + "=" + value;
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += line + "\n";
  }
  return text;
}

std::map<std::string, std::string> parse_facts(const std::string& text) {
  std::map<std::string, std::string> facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find('='); at != std::string::npos) facts[line.substr(0, at)] = line.substr(at + 1);
  return facts;
}

Result<Controller> Controller::open(Setting setting) {
  Controller controller(std::move(setting));
  const std::string mine = controller.set_.identity + "\n" + controller.set_.version;
  STAB_TRY(const bool first, controller.set_.spool->claim(kSpoolExperiment, mine));
  if (!first) {
    STAB_TRY(const std::optional<std::string> there, controller.set_.spool->note(kSpoolExperiment));
    if (!there || *there != mine)
      return Error{ErrorCode::kBusy,
                   "spool '" + controller.set_.spool->directory() +
                       "' is another experiment's, or one of another version of Stab; give this one a spool of its own",
                   {}};
  }
  STAB_CHECK_OK(controller.load());
  return controller;
}

Status Controller::load() {
  slot_of_ = deal_blocks(set_.seed, set_.machines.count, set_.blocks);
  open_.resize(static_cast<size_t>(set_.machines.count));
  for (uint32_t block = 0; block < slot_of_.size(); ++block) open_[static_cast<size_t>(slot_of_[block])].insert(block);
  STAB_TRY(const std::vector<store::SlotEpochRow> rows,
           look([&](store::Store& store) { return store.slot_epochs(set_.experiment); }));
  int64_t first = 0;
  for (const store::SlotEpochRow& row : rows) {
    epochs_[row.slot] = row;
    seen_[row.slot] = set_.clock->monotonic_raw();
    const bool accepted =
        !row.facts.empty() && row.state != store::SlotState::kRefused && row.state != store::SlotState::kGranted;
    if (!accepted || (first_facts_ && row.granted_at_ns >= first)) continue;
    first = row.granted_at_ns;
    first_facts_ = row.facts;
  }
  for (const auto& [slot, row] : epochs_) {
    STAB_TRY(const std::optional<std::string> grant, set_.spool->note(slot_file(slot, row.epoch, "grant")));
    if (const auto last = last_block_of(grant.value_or(""))) last_granted_[slot] = *last;
  }
  STAB_TRY(const std::vector<store::PartRow> parts, look([&](store::Store& store) { return store.parts(set_.experiment); }));
  for (const store::PartRow& part : parts)
    if (part.fate == store::PartFate::kRecorded) note_recorded(part.block);
  STAB_TRY(const std::vector<store::EventRow> events, look([&](store::Store& store) { return store.events(set_.experiment); }));
  for (const store::EventRow& event : events) {
    logged_.insert(event.kind + '\t' + event.text);
    if (is_of_a_machine(event.kind)) ++all_log_lines_;
  }
  store::Store::TrialFilter dropped;
  dropped.kind = store::TrialKind::kMain;
  dropped.state = store::TrialState::kCancelled;
  STAB_TRY(const std::vector<store::TrialRow> not_needed,
           look([&](store::Store& store) { return store.trials(set_.experiment, dropped); }));
  total_ = set_.blocks;
  for (const store::TrialRow& trial : not_needed) total_ = std::min(total_, static_cast<int>(trial.block));
  // What lies behind a point where looks wait was granted after its decision.
  const uint32_t last = recorded_.empty() ? 0 : *recorded_.rbegin() + 1;
  while (next_point_ < set_.points.size() &&
         (total_ < set_.blocks || (set_.looks_wait && last > static_cast<uint32_t>(set_.points[next_point_]))))
    ++next_point_;
  return {};
}

// Every point that the blocks in front, all of which are there, have come to.
Status Controller::pass_points() {
  for (; next_point_ < set_.points.size() && prefix_ >= static_cast<uint32_t>(set_.points[next_point_]); ++next_point_) {
    STAB_TRY(const int needed, set_.decide(set_.points[next_point_]));
    if (needed >= total_) continue;
    total_ = needed;
    next_point_ = set_.points.size();
    break;
  }
  limit_ = set_.looks_wait && next_point_ < set_.points.size() ? std::min(total_, set_.points[next_point_]) : total_;
  return {};
}

bool Controller::has_open(int slot, uint32_t end) const {
  const std::set<uint32_t>& open = open_[static_cast<size_t>(slot)];
  return !open.empty() && *open.begin() < end;
}

std::vector<uint32_t> Controller::open_blocks(int slot, uint32_t end) const {
  const std::set<uint32_t>& open = open_[static_cast<size_t>(slot)];
  return {open.begin(), open.lower_bound(end)};
}

uint32_t Controller::end_of_grant(int slot) const {
  const auto last = last_granted_.find(slot);
  return last == last_granted_.end() ? end_of_grants() : std::min(end_of_grants(), last->second + 1);
}

void Controller::note_recorded(uint32_t block) {
  recorded_.insert(block);
  while (recorded_.contains(prefix_)) ++prefix_;
  if (block < slot_of_.size()) open_[static_cast<size_t>(slot_of_[block])].erase(block);
}

void Controller::is_alive(int slot) {
  seen_[slot] = set_.clock->monotonic_raw();
  sign_at_ns_[slot] = set_.clock->realtime().count();
}

Result<bool> Controller::round(bool starts) {
  no_room_.clear();
  STAB_CHECK_OK(collect());
  stalled_ = no_room_;
  if (has_no_room()) return false;  // who has brought all of its blocks is not known
  STAB_CHECK_OK(pass_points());
  for (int slot = 0; slot < set_.machines.count; ++slot) {
    STAB_CHECK_OK(settle(slot));
    const store::SlotEpochRow* row = newest(slot);
    const bool runs = row != nullptr && (row->state == store::SlotState::kGranted || row->state == store::SlotState::kRunning);
    if (starts && !runs && has_open(slot, end_of_grants())) STAB_CHECK_OK(start(slot));
  }
  return prefix_ >= static_cast<uint32_t>(total_);
}

// Parts first: whether a worker that has ended brought all of its blocks is known only then.
Status Controller::collect() {
  STAB_TRY(const std::vector<std::string> names, set_.spool->names());
  there_ = {names.begin(), names.end()};
  std::erase_if(torn_, [&](const auto& torn) { return !there_.contains(torn.first); });
  for (const bool parts : {true, false}) {
    for (const std::string& name : names) {
      const std::optional<SlotFile> file = parse_slot_file(name);
      if (!file) continue;
      const std::optional<PartFile> part = parse_part_file(file->what);
      if (part.has_value() != parts) continue;
      STAB_CHECK_OK(part ? take_part(*file, *part, name) : hear(*file, name));
    }
  }
  return {};
}

// Whether it was torn and is as it was then.
bool Controller::still_torn(const std::string& name) {
  const auto torn = torn_.find(name);
  if (torn == torn_.end()) return false;
  const auto sign = set_.spool->sign_of(name);
  return sign && *sign == torn->second.sign && set_.clock->monotonic_raw() - torn->second.at < kHashAgain;
}

Status Controller::put_away(const std::string& name) {
  return set_.keeps_aside ? set_.spool->set_aside(name) : set_.spool->remove(name);
}

Status Controller::take_part(const SlotFile& file, const PartFile& part, const std::string& name) {
  const auto may_come = [&] {
    const store::SlotEpochRow* row = newest(file.slot);
    return row != nullptr && row->epoch == file.epoch && !recorded_.contains(part.block);
  };
  if (has_no_room() || (may_come() && still_torn(name))) return {};
  const std::optional<FileSign> sign = set_.spool->sign_of(name);  // before its content, which may change meanwhile
  ++hashed_;
  const Result<std::string> content = worker::sha256_of_file(set_.spool->path_of(name));
  if (!content && content.error().code == ErrorCode::kNotFound) return {};  // shown late, or gone
  if (!content) return content.error();
  const bool of_slot = part.block < slot_of_.size() && slot_of_[part.block] == file.slot;
  if (*content != part.sha256) {
    // Its rest may come, as long as its epoch is the newest.
    if (torn_.insert_or_assign(name, Torn{sign.value_or(FileSign()), set_.clock->monotonic_raw()}).second)
      STAB_CHECK_OK(say("part-torn", "part " + name + " is not whole: waiting for the rest"));
    return may_come() ? Status() : put_away(name);
  }
  if (!of_slot) {
    STAB_CHECK_OK(say("part-refused", "part " + name + " is refused: its block is not of its slot"));
    return put_away(name);
  }
  const store::PartLabel label{set_.identity, file.slot, file.epoch, part.number, part.block};
  const std::string path = set_.spool->path_of(name);
  std::error_code absent;
  if (const auto bytes = std::filesystem::file_size(path, absent); set_.why_no_room && may_come() && !absent)
    no_room_ = set_.why_no_room(static_cast<int64_t>(bytes));
  if (has_no_room()) return {};
  STAB_TRY(const store::PartVerdict verdict, write([&](store::Store& store) -> Result<store::PartVerdict> {
             STAB_CHECK_OK(store.check_in_place());  // else it would be gone from the spool, and from the database
             return store.import_part(set_.experiment, label, set_.block_places * part.block, set_.block_places, part.sha256,
                                      path, set_.clock->realtime().count());
           }));
  is_alive(file.slot);
  switch (verdict.fate) {
    case store::PartFate::kRecorded:
      note_recorded(part.block);
      return set_.spool->remove(name);
    case store::PartFate::kDuplicate:
      return set_.spool->remove(name);
    case store::PartFate::kSuperseded:
    case store::PartFate::kRefused:
      break;
  }
  STAB_CHECK_OK(say(verdict.fate == store::PartFate::kSuperseded ? "part-superseded" : "part-refused",
                    "part " + name + " doesn't count: " + verdict.why));
  return put_away(name);
}

// What a worker says besides parts. What isn't the newest epoch's is nobody's any more.
Status Controller::hear(const SlotFile& file, const std::string& name) {
  store::SlotEpochRow* row = newest(file.slot);
  if (row == nullptr || file.epoch > row->epoch) return {};
  if (file.epoch < row->epoch) {
    for (const std::string_view what : {std::string_view("facts"), std::string_view("end"), std::string_view("verdict"),
                                        kPreflightNote, kLogNote})
      if (file.what == what) return set_.spool->remove(name);
    return {};
  }
  if (file.what == "heartbeat") {
    const auto heard = heard_.find(file.slot);
    const bool is_due = heard == heard_.end() || set_.clock->monotonic_raw() - heard->second >= kBetweenHeartbeats;
    return is_due ? read_heartbeat(file.slot, file.epoch) : Status();
  }
  if (file.what == kPreflightNote) return take_preflight(*row, name);
  if (file.what == kLogNote) return take_log(*row, name);
  if (file.what != "facts" || row->state != store::SlotState::kGranted) return {};
  STAB_TRY(const std::optional<std::string> text, set_.spool->note(name));
  return text ? judge_facts(*row, *text) : Status();
}

Status Controller::read_heartbeat(int slot, int64_t epoch) {
  heard_[slot] = set_.clock->monotonic_raw();
  STAB_TRY(const std::optional<std::string> text, set_.spool->note(slot_file(slot, epoch, "heartbeat")));
  if (!text || signs_[slot] == *text) return {};
  signs_[slot] = *text;
  is_alive(slot);
  return {};
}

// Beside the machine's facts, once: what of them is there already was taken in, by us or the controller before us.
Status Controller::take_preflight(store::SlotEpochRow& row, const std::string& name) {
  if (row.state == store::SlotState::kGranted) return {};  // its machine is judged first
  if (const auto at = row.facts.lower_bound(std::string(kPreflightFact));
      at != row.facts.end() && at->first.starts_with(kPreflightFact))
    return {};
  STAB_TRY(const std::optional<std::string> text, set_.spool->note(name));
  if (!text) return {};
  const std::map<std::string, std::string> facts = preflight_facts(parse_facts(*text));
  if (facts.empty()) return {};
  row.facts.insert(facts.begin(), facts.end());
  is_alive(row.slot);
  return write([&](store::Store& store) { return store.update_slot(set_.experiment, row); });
}

// Each line once for a machine, however many slots it has and whoever takes the note in: we, or the controller before us.
Status Controller::take_log(const store::SlotEpochRow& row, const std::string& name) {
  if (row.state == store::SlotState::kGranted) return {};  // its machine is judged first
  const std::optional<FileSign> sign = set_.spool->sign_of(name);
  const auto taken = log_signs_.find(row.slot);
  if (!sign || (taken != log_signs_.end() && taken->second == *sign)) return {};
  STAB_TRY(const std::optional<std::string> text, set_.spool->note(name));
  if (!text) return {};
  const size_t most = kMostWorkerEvents * static_cast<size_t>(set_.machines.count);
  for (const WorkerEvent& event : parse_log_note(*text)) {
    const std::string line = row.machine + ": " + event.text;
    if (logged_.contains(event.kind + '\t' + line) || log_lines_[row.slot] >= kMostWorkerEvents || all_log_lines_ >= most)
      continue;
    ++log_lines_[row.slot];
    ++all_log_lines_;
    STAB_CHECK_OK(log(event.kind, line));
    logged_.insert(event.kind + '\t' + line);
  }
  log_signs_[row.slot] = *sign;
  return {};
}

Status Controller::judge_facts(store::SlotEpochRow& row, const std::string& text) {
  std::map<std::string, std::string> facts = parse_facts(text);
  std::erase_if(facts, [](const auto& fact) { return fact.first.starts_with(kPreflightFact); });
  row.machine = at_most(facts["machine.name"], kMostMachineBytes);
  is_alive(row.slot);
  if (const std::string strange = why_no_facts(facts); !strange.empty()) {
    STAB_CHECK_OK(set_.spool->put_note(slot_file(row.slot, row.epoch, "verdict"), "refused: " + strange));
    return end(row, store::SlotState::kRefused, row.machine + ": " + strange);
  }
  row.facts = std::move(facts);
  std::string why = first_facts_ ? difference_of(set_.machines.same, *first_facts_, row.facts) : "";
  if (row.facts["stab.version"] != set_.version)
    why = "it has version " + row.facts["stab.version"] + " of Stab, the controller " + set_.version + ": install the same";
  if (why.empty()) {
    // The verdict is read again and again, the state is what lasts: first the state.
    row.state = store::SlotState::kRunning;
    STAB_CHECK_OK(write([&](store::Store& store) { return store.update_slot(set_.experiment, row); }));
    if (!first_facts_) first_facts_ = row.facts;
    STAB_CHECK_OK(set_.spool->put_note(slot_file(row.slot, row.epoch, "verdict"), "go"));
    return say("machine", slot_words(row) + ": runs on " + row.machine);
  }
  STAB_CHECK_OK(set_.spool->put_note(slot_file(row.slot, row.epoch, "verdict"), "refused: " + why));
  return end(row, store::SlotState::kRefused, row.machine + " differs: " + why);
}

Status Controller::end(store::SlotEpochRow& row, store::SlotState state, const std::string& reason) {
  const std::string why = at_most(reason, kMostReasonBytes);
  row.state = state;
  row.why = why;
  row.ended_at_ns = set_.clock->realtime().count();
  STAB_CHECK_OK(write([&](store::Store& store) { return store.update_slot(set_.experiment, row); }));
  if (state == store::SlotState::kDone) return {};
  ++failures_[row.host];
  if (state == store::SlotState::kRefused) failures_[row.host] += kMostFailures;
  ++slot_failures_[row.slot];
  set_.engine->stop(row.slot, row.epoch);
  return say(state == store::SlotState::kLost ? "slot-lost" : "slot-refused", slot_words(row) + ": " + why);
}

// Whether the slot's worker has ended, and how. A heartbeat alone decides nothing: file systems stall.
Status Controller::settle(int slot) {
  store::SlotEpochRow* row = newest(slot);
  if (row == nullptr || (row->state != store::SlotState::kGranted && row->state != store::SlotState::kRunning)) return {};
  const std::string verdict = slot_file(slot, row->epoch, "verdict"), end_note = slot_file(slot, row->epoch, "end");
  if (row->state == store::SlotState::kRunning && !there_.contains(verdict) && !set_.spool->has(verdict))
    STAB_CHECK_OK(set_.spool->put_note(verdict, "go"));  // a controller died in between
  std::optional<std::string> ended;
  if (there_.contains(end_note)) {
    STAB_TRY(ended, set_.spool->note(end_note));
  }
  if (!has_open(slot, end_of_grant(slot))) {
    if (total_ < set_.blocks) set_.engine->stop(slot, row->epoch);  // it may run what is needed no more
    return end(*row, store::SlotState::kDone, "");
  }
  if (ended && *ended != "done" && *ended != "stopped") return end(*row, store::SlotState::kRefused, *ended);
  STAB_TRY(const bool lives, set_.engine->lives(slot, row->epoch));
  if (lives) return {};
  STAB_CHECK_OK(read_heartbeat(slot, row->epoch));  // its last one
  if (set_.clock->monotonic_raw() - seen_[slot] < set_.engine->patience()) return {};
  return end(*row, store::SlotState::kLost,
             (ended ? "it ended before its blocks were done: " : "its worker is gone: ") +
                 std::to_string(open_blocks(slot, end_of_grant(slot)).size()) + " of its blocks are left");
}

Status Controller::start(int slot) {
  const std::optional<std::string> host = free_host();
  if (!host || slot_failures_[slot] >= kMostSlotFailures) {
    const store::SlotEpochRow* row = newest(slot);
    stalled_ = "no machine is left for slot " + std::to_string(slot) +
               (row != nullptr && !row->why.empty() ? "; the last one: " + slot_words(*row) + ": " + row->why : "");
    return {};
  }
  STAB_TRY(const int64_t epoch, write([&](store::Store& store) {
             return store.grant_slot(set_.experiment, slot, *host, set_.clock->realtime().count());
           }));
  store::SlotEpochRow row;
  row.slot = slot;
  row.epoch = epoch;
  row.host = *host;
  row.granted_at_ns = set_.clock->realtime().count();
  epochs_[slot] = row;
  seen_[slot] = set_.clock->monotonic_raw();
  signs_.erase(slot);
  sign_at_ns_.erase(slot);
  std::vector<uint32_t> granted = open_blocks(slot, end_of_grants());
  granted.resize(std::min(granted.size(), set_.most_granted));
  last_granted_[slot] = granted.back();
  std::string blocks;
  for (const uint32_t block : granted) blocks += (blocks.empty() ? "" : " ") + std::to_string(block);
  STAB_CHECK_OK(set_.spool->put_note(slot_file(slot, epoch, "grant"), set_.identity + "\n" + blocks));
  const Status started = set_.engine->start(slot, epoch, *host);
  if (!started) return end(epochs_[slot], store::SlotState::kLost, started.error().message);
  return {};
}

// A host runs one slot at a time.
std::optional<std::string> Controller::free_host() const {
  if (set_.machines.hosts.empty()) return std::string();
  for (const std::string& host : set_.machines.hosts) {
    const bool taken = std::any_of(epochs_.begin(), epochs_.end(), [&](const auto& slot) {
      const store::SlotState state = slot.second.state;
      return slot.second.host == host && (state == store::SlotState::kGranted || state == store::SlotState::kRunning);
    });
    const auto failed = failures_.find(host);
    if (!taken && (failed == failures_.end() || failed->second < kMostFailures)) return host;
  }
  return {};
}

store::SlotEpochRow* Controller::newest(int slot) {
  const auto at = epochs_.find(slot);
  return at == epochs_.end() ? nullptr : &at->second;
}

Status Controller::say(const char* kind, const std::string& text) {
  if (set_.note) set_.note(text);
  return log(kind, text);
}

Status Controller::log(const std::string& kind, const std::string& text) {
  return write([&](store::Store& store) {
    return store.log({set_.clock->realtime().count(), set_.experiment, kind, text});
  });
}

bool Controller::any_alive() const {
  return std::any_of(epochs_.begin(), epochs_.end(), [&](const auto& slot) {
    const store::SlotState state = slot.second.state;
    if (state != store::SlotState::kGranted && state != store::SlotState::kRunning) return false;
    const Result<bool> lives = set_.engine->lives(slot.first, slot.second.epoch);
    return !lives || *lives;
  });
}

void Controller::stop_all() {
  for (const auto& [slot, row] : epochs_)
    if (row.state == store::SlotState::kGranted || row.state == store::SlotState::kRunning) set_.engine->stop(slot, row.epoch);
}

}  // namespace stab::engine
