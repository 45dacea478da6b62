// machine: the host's knobs. show and doctor look, tune turns them for hand-made measurements, restore turns
// back whatever was tuned, by hand or by an engine that died.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/architecture.h"
#include "counters/counting_session.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/machine/findings.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/machine/topology.h"
#include "stabd/host/installation.h"
#include "stabd/host/private_ipc.h"
#include "stabd/host/process_tree.h"
#include "stabd/host/tuning.h"

namespace stab::ctl {
namespace {

constexpr char kAbsent[] = "absent";  // what engine::present_value() says of a knob that this machine doesn't have

Result<host::Placement> placement() {
  STAB_TRY(const engine::Topology topology, engine::Topology::discover());
  return engine::place(topology, "auto", "auto");
}

// Where the kernel lets us count something, what can't be counted isn't there.
std::vector<Finding> findings_of_counters() {
  std::vector<Finding> findings;
  const auto specs = counters::resolve({"cycles", "instructions", "task-clock"});
  if (!specs) return findings;
  for (const counters::EventSpec& spec : *specs) {
    const std::string why_not = counters::why_unavailable(spec);
    findings.push_back({"counter " + spec.name, why_not.empty() ? "available" : "unavailable", "available",
                        "counters say why a time differs", why_not, why_not.empty() ? Weight::kWell : Weight::kImprove});
  }
  const bool may_count = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.well(); });
  for (Finding& finding : findings)
    if (may_count && !finding.well()) finding.weight = Weight::kAbsent;
  return findings;
}

Weight wrong_unless(bool well) { return well ? Weight::kWell : Weight::kWrong; }

// Of what is started from here; a daemon's broker may be in a group that gives more.
Finding finding_of_limits(const host::ProcessTree& tree) {
  const std::string &memory = tree.why_no_memory_limit(), &processes = tree.why_no_process_limit();
  const std::string value = memory.empty() && processes.empty() ? "memory and processes"
                            : memory.empty()                    ? "memory"
                            : processes.empty()                 ? "processes"
                                                                : "none";
  const std::string& cure = memory.empty() ? processes : memory;
  return {"limits of trials", value, "memory and processes", "a program that takes all there is ends itself, not the lab", cure,
          cure.empty() ? Weight::kWell : Weight::kImprove};
}

// The same of what trials leave in memory that outlives them.
Finding finding_of_ipc() {
  const auto ipc = host::PrivateIpc::make();
  return {"ipc of trials", ipc ? "private" : "shared", "private",
          "what a trial leaves in System V objects, queues and /dev/shm is not there for the next one",
          ipc ? "" : ipc.error().message + "; submit to a stabd that root has started",
          ipc ? Weight::kWell : Weight::kImprove};
}

// Trials that are simulated need it. Of a program under a valgrind of its user's nothing moves: no program may start its helper
// there.
Finding finding_of_simulation() {
  std::string found;
  for (const char* path : {"/usr/bin/valgrind", "/usr/local/bin/valgrind"})
    if (found.empty() && ::access(path, X_OK) == 0) found = path;
  return {"simulated trials", found.empty() ? "no valgrind" : found, "valgrind",
          "[counters] simulate = \"cachegrind\" counts without noise; under a valgrind of your own a program starts no helper "
          "and stays unmoved",
          found.empty() ? "apt install valgrind" : "", found.empty() ? Weight::kImprove : Weight::kWell};
}

// What every experiment needs, then what only some do. Where the first is missing nothing is said of the others.
std::vector<Finding> findings_of_installation() {
  const auto part = [](const char* what, const Status& there, const std::string& path, const char* why) {
    return Finding{what, there ? path : there.error().message, "complete", why, "build or install all of stab",
                   wrong_unless(there.ok())};
  };
  const auto installation = host::find_installation();
  std::vector<Finding> findings{part("installation", installation ? Status() : Status(installation.error()),
                                     installation ? installation->launcher : "",
                                     "the launcher and the helper become and accompany the measured program")};
  if (!installation) return findings;
  if (const Status here = check_layouts(); !here) {
    findings.push_back({"layouts", "none on this processor", "x86-64", "what szc builds moves while it runs",
                        here.error().message, Weight::kAbsent});
    return findings;
  }
  findings.push_back(part("causal profiles", host::check_causal_parts(*installation), installation->causal_library,
                          "without them no plan with [causal] runs, nor 'stabctl causal'; other plans do"));
  findings.push_back(part("foreign programs", host::check_preloaded_parts(*installation), installation->host,
                          "without it no plan with preload_heap or preload_libraries runs; other plans do"));
  return findings;
}

std::vector<Finding> findings_of_parts() {
  std::vector<Finding> findings;
  const auto placed = placement();
  findings.push_back({"cpus", placed ? placed->why : placed.error().message, "two cores",
                      "helper and engine must not run on the trial's core", "use a machine with more cores",
                      wrong_unless(placed.ok() && placed->trial_cpu != placed->housekeeping_cpu)});
  host::Delegation delegation{host::Roots()};
  const auto tree = host::ProcessTree::create(host::Roots(), host::TreeKind::kCgroup2, {}, &delegation);
  findings.push_back({"process trees", tree ? std::string(host::name(tree->kind())) : tree.error().message, "a cgroup",
                      "children that leave their session are found and killed", "run as root, or in a delegated cgroup",
                      !tree.ok()                                  ? Weight::kWrong
                      : tree->kind() == host::TreeKind::kAncestry ? Weight::kImprove
                                                                  : Weight::kWell});
  if (tree) findings.push_back(finding_of_limits(*tree));
  findings.push_back(finding_of_ipc());
  findings.push_back(finding_of_simulation());
  for (Finding& finding : findings_of_counters()) findings.push_back(std::move(finding));
  return findings;
}

std::vector<Finding> findings_of_knobs(bool only_files) {
  std::vector<Finding> findings;
  const auto placed = placement();
  if (!placed) return findings;
  const host::Roots roots;
  for (const host::KnobInfo& info : host::knob_infos()) {
    const std::string name(info.name), wanted(info.recommended);
    Finding finding{name, host::present_value(name, roots, *placed), wanted, std::string(info.why), "", Weight::kWell};
    const auto writes = host::writes_of(name, wanted, roots, *placed);
    if (!writes) {
      finding.weight =
          finding.value == kAbsent || writes.error().code == ErrorCode::kUnavailable ? Weight::kAbsent : Weight::kImprove;
      finding.cure = writes.error().message;
    } else if (std::any_of(writes->begin(), writes->end(), [](const host::KnobWrite& write) {
                 return host::written_form(host::read_small_file(write.path).value_or("")) != write.wanted;
               })) {
      finding.weight = Weight::kImprove;
      finding.cure = "[machine.knobs] " + name + " = \"" + wanted + "\", or stabctl machine tune";
    }
    if (!only_files || finding.value != kAbsent) findings.push_back(std::move(finding));
  }
  return findings;
}

int show(std::vector<Finding> findings, bool json) {
  sort_findings(findings);
  std::fputs((json ? findings_json(findings) : findings_text(findings)).c_str(), stdout);
  return kExitDone;
}

// "governor=performance"; none named: every knob that has an "off", as recommended.
Result<std::vector<host::KnobWrite>> wanted_writes(const std::vector<std::string>& words, const host::Placement& placed) {
  std::vector<host::KnobWrite> all;
  const host::Roots roots;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return bad_input("'" + word + "': expected KNOB=WORD, such as governor=performance");
    STAB_TRY(const auto writes, host::writes_of(word.substr(0, equals), word.substr(equals + 1), roots, placed));
    all.insert(all.end(), writes.begin(), writes.end());
  }
  if (!words.empty()) return all;
  for (const host::KnobInfo& info : host::knob_infos()) {
    const auto writes = host::writes_of(std::string(info.name), std::string(info.recommended), roots, placed);
    if (writes) all.insert(all.end(), writes->begin(), writes->end());
  }
  return all;
}

}  // namespace

int doctor_command(const Arguments& arguments) {
  std::vector<Finding> findings = findings_of_installation();
  const bool complete =
      std::none_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.weight == Weight::kWrong; });
  for (Finding& finding : findings_of_parts()) findings.push_back(std::move(finding));
  for (Finding& finding : findings_of_knobs(false)) findings.push_back(std::move(finding));
  if (!kHasLayouts && !arguments.json) std::printf("%s\n", kNoLayouts);
  show(std::move(findings), arguments.json);
  // Quiet or not is the plan's matter; a missing part is ours.
  return complete ? kExitDone : kExitFailed;
}

int machine_show_command(const Arguments& arguments) { return show(findings_of_knobs(true), arguments.json); }

int machine_tune_command(const Arguments& arguments) {
  const host::Roots roots;
  const auto placed = placement();
  if (!placed) return complain(placed.error());
  const auto writes = wanted_writes(arguments.words, *placed);
  if (!writes) return complain(writes.error());
  auto tuning = host::Tuning::begin(roots, host::default_journal(), engine::boot_id(roots));
  if (!tuning) return complain(tuning.error());
  const auto outcomes = tuning->apply(*writes);
  if (!outcomes) return complain(outcomes.error());
  tuning->keep();
  bool all = true;
  for (const host::KnobOutcome& outcome : *outcomes) {
    if (outcome.write.kind == host::KnobWrite::Kind::kKept) continue;
    all = all && (outcome.refused.empty() || outcome.write.may_refuse);
    std::printf("%-16s %s: %s -> %s%s%s\n", outcome.write.knob.c_str(), outcome.write.path.c_str(), outcome.before.c_str(),
                outcome.after.c_str(), outcome.refused.empty() ? "" : "  refused: ", outcome.refused.c_str());
  }
  std::printf("'stabctl machine restore' undoes this; so does the next engine that starts\n");
  return all ? kExitDone : kExitFailed;
}

int machine_restore_command(const Arguments&) {
  const host::Roots roots;
  const auto restored = host::Tuning::restore(roots, host::default_journal(), engine::boot_id(roots));
  if (!restored) return complain(restored.error());
  std::printf("%d setting%s restored%s\n", restored->settings, restored->settings == 1 ? "" : "s",
              printable(host::gone_text(*restored)).c_str());
  return kExitDone;
}

}  // namespace stab::ctl
