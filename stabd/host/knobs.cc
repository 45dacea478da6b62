// The table of knobs. Every knob is files and texts; nothing here writes. Sources: the kernel's
// Documentation/admin-guide/{sysctl,pm,cgroup-v2}, Documentation/core-api/irq.
#include "stabd/host/knobs.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "plan/plan.h"
#include "stabd/host/isolation.h"

namespace stab::host {
namespace {

using Writes = Result<std::vector<KnobWrite>>;

bool exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

std::vector<std::string> entries(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> names;
  if (DIR* open_directory = ::opendir(directory.c_str())) {
    while (const dirent* entry = ::readdir(open_directory))
      if (std::string(entry->d_name).rfind(prefix, 0) == 0 && entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    ::closedir(open_directory);
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Request {
  const std::string& knob;
  const std::string& word;
  const Roots& roots;
  const Placement& placement;

  std::string cpus() const { return roots.sys + "/devices/system/cpu"; }
  std::string cpu() const { return cpus() + "/cpu" + std::to_string(std::max(placement.trial_cpu, 0)); }
};

Error unknown_word(const Request& request, const std::string& expected) {
  return bad_input("knob " + request.knob + " = '" + request.word + "': expected " + expected);
}

Error absent(const Request& request, const std::string& path) {
  return Error{ErrorCode::kUnavailable, "this machine has no '" + path + "', so no knob " + request.knob, {}};
}

Writes one_file(const Request& request, const std::string& path, const std::string& wanted) {
  if (!exists(path)) return absent(request, path);
  return std::vector<KnobWrite>{{request.knob, path, wanted}};
}

// "off" -> off_text, "on" -> on_text
Writes switch_file(const Request& request, const std::string& path, const char* off_text, const char* on_text) {
  return one_file(request, path, request.word == "off" ? off_text : on_text);
}

Writes governor(const Request& request) { return one_file(request, request.cpu() + "/cpufreq/scaling_governor", request.word); }

Writes frequency(const Request& request) {
  const std::string folder = request.cpu() + "/cpufreq";
  if (!to_integer(request.word)) return unknown_word(request, "a frequency in kHz");
  if (!exists(folder + "/scaling_max_freq")) return absent(request, folder);
  // Raising the upper bound first keeps min <= max whatever was set before.
  return std::vector<KnobWrite>{{request.knob, folder + "/scaling_max_freq", request.word},
                                {request.knob, folder + "/scaling_min_freq", request.word}};
}

Writes turbo(const Request& request) {
  const std::string intel = request.cpus() + "/intel_pstate/no_turbo";
  if (exists(intel)) return switch_file(request, intel, "1", "0");
  return switch_file(request, request.cpus() + "/cpufreq/boost", "0", "1");
}

// off: only the shallowest idle state, whose wake-up takes no time worth mentioning.
Writes c_states(const Request& request) {
  const std::string folder = request.cpu() + "/cpuidle";
  std::vector<KnobWrite> writes;
  for (const std::string& state : entries(folder, "state"))
    if (state != "state0") writes.push_back({request.knob, folder + "/" + state + "/disable", request.word == "off" ? "1" : "0"});
  if (writes.empty()) return absent(request, folder + "/state1");
  return writes;
}

Writes smt(const Request& request) {
  const std::string control = request.cpus() + "/smt/control";
  const auto present = read_small_file(control);
  if (!present || *present == "notsupported" || *present == "notimplemented") return absent(request, control);
  return switch_file(request, control, "off", "on");
}

// off: away from the trial's CPU. Interrupts that are bound to a CPU refuse, and say so in the record.
Writes irqs(const Request& request) {
  if (request.placement.housekeeping_cpu < 0 || request.placement.housekeeping_cpu == request.placement.trial_cpu)
    return Error{ErrorCode::kUnavailable, "knob irqs: there is no other cpu to move interrupts to", {}};
  const std::string folder = request.roots.proc + "/irq";
  const std::string target = std::to_string(request.placement.housekeeping_cpu);
  std::vector<KnobWrite> writes;
  for (const std::string& irq : entries(folder, "")) {
    const std::string path = folder + "/" + irq + "/smp_affinity_list";
    if (to_integer(irq) && exists(path)) writes.push_back({request.knob, path, target, true});
  }
  if (writes.empty()) return absent(request, folder);
  return writes;
}

// Off by the switch of both kinds. While it is off, the kernel takes whoever reads one kind's file for somebody who has turned
// that kind off as well (proc_watchdog_common in kernel/watchdog.c), and the switch alone brings neither back.
Writes watchdogs(const Request& request) {
  const std::string folder = request.roots.proc + "/sys/kernel";
  STAB_TRY(std::vector<KnobWrite> writes, switch_file(request, folder + "/watchdog", "0", "1"));
  for (const char* kind : {"/nmi_watchdog", "/soft_watchdog"})
    if (exists(folder + kind)) writes.insert(writes.begin(), {request.knob, folder + kind, "", false, KnobWrite::Kind::kKept});
  return writes;
}

// The launcher does it for each trial, or it is so anyway: warm-up leaves files cached.
Writes nothing(const Request&) { return std::vector<KnobWrite>(); }

Writes cpuset(const Request& request) {
  STAB_TRY(Isolation isolation, isolation_of(request.roots, request.placement));
  return std::move(isolation.writes);
}

struct Entry {
  KnobInfo info;
  std::function<Writes(const Request&)> writes;
};

const std::vector<Entry>& table() {
  static const std::vector<Entry> entries = {
      {{"affinity", "on", "a trial that moves between CPUs starts with cold caches"}, nothing},
      {{"cpuset", "off", "other programs stay off the trial's CPU"}, cpuset},
      {{"irqs", "off", "interrupts on the trial's CPU take time and evict its caches"}, irqs},
      {{"governor", "performance", "a clock that follows the load makes time depend on what ran before"}, governor},
      {{"frequency", "base", "a fixed clock (kHz) makes trials comparable over hours"}, frequency},
      {{"turbo", "off", "boost depends on temperature and on the other cores"}, turbo},
      {{"c_states", "off", "waking from deep idle states takes up to 100 us"}, c_states},
      {{"smt", "off", "the sibling thread shares caches and execution units"}, smt},
      {{"aslr", "on", "off fixes addresses that the layout factors don't randomize; set for each trial"}, nothing},
      {{"thp", "on", "off keeps huge pages from appearing at random moments; set for each trial"}, nothing},
      {{"swap", "off", "a page read back from disk costs milliseconds"},
       [](const Request& r) { return switch_file(r, r.roots.proc + "/sys/vm/swappiness", "0", "60"); }},
      {{"numa_balancing", "off", "the kernel unmaps pages to see who uses them"},
       [](const Request& r) { return switch_file(r, r.roots.proc + "/sys/kernel/numa_balancing", "0", "1"); }},
      {{"watchdogs", "off", "a timer and a counter of the PMU on each CPU"}, watchdogs},
      {{"page_cache", "keep", "every trial should find the same files cached"}, nothing},
  };
  return entries;
}

const Entry* find(const std::string& knob) {
  for (const Entry& entry : table())
    if (entry.info.name == knob) return &entry;
  return nullptr;
}

}  // namespace

const std::vector<KnobInfo>& knob_infos() {
  static const std::vector<KnobInfo> infos = [] {
    std::vector<KnobInfo> all;
    for (const Entry& entry : table()) all.push_back(entry.info);
    return all;
  }();
  return infos;
}

Result<std::vector<KnobWrite>> writes_of(const std::string& knob, const std::string& word, const Roots& roots,
                                         const Placement& placement) {
  const Entry* entry = find(knob);
  if (entry == nullptr) return bad_input("no knob '" + knob + "'; 'stabctl machine show' lists them");
  const Request request{knob, word, roots, placement};
  const plan::Knob* known = plan::knob_named(knob);
  if (known != nullptr && !known->takes(word)) return unknown_word(request, known->expected());
  return entry->writes(request);
}

std::string written_form(const std::string& text) {
  const size_t open = text.find('['), close = text.find(']', open + 1);
  if (open == std::string::npos || close == std::string::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

std::string present_value(const std::string& knob, const Roots& roots, const Placement& placement) {
  if (knob == "thp") return read_small_file(roots.sys + "/kernel/mm/transparent_hugepage/enabled").value_or("absent");
  if (knob == "aslr") return read_small_file(roots.proc + "/sys/kernel/randomize_va_space").value_or("absent");
  if (knob == "affinity") return placement.trial_cpu < 0 ? "none" : "cpu " + std::to_string(placement.trial_cpu);
  if (knob == "cpuset") {
    const auto isolation = isolation_of(roots, placement);
    if (!isolation) return "absent";
    const bool made = std::any_of(isolation->writes.begin(), isolation->writes.end(), [](const KnobWrite& write) {
      return write.kind == KnobWrite::Kind::kDirectory && exists(write.path);
    });
    return made ? "off: cpu " + std::to_string(placement.trial_cpu) + " is the trials'" : "on: anybody may run there";
  }
  const Entry* entry = find(knob);
  // Any word shows the files; a frequency wants a number.
  for (const char* word : {"off", "1"}) {
    Writes writes = entry != nullptr ? entry->writes({knob, word, roots, placement}) : Writes(bad_input(""));
    if (writes) std::erase_if(*writes, [](const KnobWrite& write) { return write.kind == KnobWrite::Kind::kKept; });
    if (!writes || writes->empty()) continue;
    std::string shown;
    size_t same = 0;
    for (const KnobWrite& write : *writes) {
      const std::string text = read_small_file(write.path).value_or("unreadable");
      if (shown.empty()) shown = text;
      same += text == shown;
    }
    return same == writes->size() ? shown : shown + " (and others, " + std::to_string(writes->size()) + " files)";
  }
  return "absent";
}

}  // namespace stab::host
