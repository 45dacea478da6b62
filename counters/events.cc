// A name is looked up in three places: the kernel's own events (kernel_events.cc), a raw "rNNNN", and libpfm4's
// tables of each PMU. libpfm encodes only for PMUs that are present, but knows the events of all: that is how a
// misspelt name (an error) is told from an event of another processor (not available here).
#include "counters/events.h"

#include <linux/perf_event.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <strings.h>

#include <charconv>
#include <cstdlib>

#include "base/wording.h"
#include "counters/kernel_events.h"

namespace stab::counters {
namespace {

// libpfm keeps global state and wants to be initialized once; a static local is.
int initialize_pfm() {
  static const int code = pfm_initialize();
  return code;
}

EventSpec from_kernel_event(const KernelEvent& event, const Scope& scope) {
  EventSpec spec;
  spec.name = spec.resolved = event.name;
  spec.hardware = event.hardware;
  spec.unit = event.in_ns ? "ns" : "count";
  spec.type = event.type;
  spec.config = event.config;
  spec.scope = scope;
  if (event.in_kernel_only && !scope.kernel) {
    // perf_event_open takes it and counts 0 for ever.
    spec.available = false;
    spec.reason = in_quotes(event.name) + " happens in the kernel, which counters.kernel = false leaves out; " +
                  "remove the event or set counters.kernel = true";
  }
  return spec;
}

bool parse_raw(std::string_view name, uint64_t& config) {
  if (name.size() < 2 || name.size() > 17 || name[0] != 'r') return false;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, config, 16);
  return error == std::errc() && stop == end;
}

bool same_name(std::string_view a, const char* b) {
  return b && a.size() == std::string_view(b).size() && strncasecmp(a.data(), b, a.size()) == 0;
}

// "skl::INST_RETIRED:ANY:u" -> PMU "skl" (may be empty) and event "INST_RETIRED".
void split_pfm_name(std::string_view name, std::string_view& pmu, std::string_view& event) {
  const size_t at = name.find("::");
  pmu = at == std::string_view::npos ? std::string_view() : name.substr(0, at);
  event = at == std::string_view::npos ? name : name.substr(at + 2);
  event = event.substr(0, event.find_first_of(":."));
}

bool has_event(const pfm_pmu_info_t& pmu, std::string_view event) {
  for (int index = pmu.first_event; index >= 0; index = pfm_get_event_next(index)) {
    pfm_event_info_t info{};
    info.size = sizeof(info);
    if (pfm_get_event_info(index, PFM_OS_NONE, &info) != PFM_SUCCESS) continue;
    if (same_name(event, info.name) || same_name(event, info.equiv)) return true;
  }
  return false;
}

// The PMUs that have the event though this machine doesn't have them: "skl (Intel Skylake)".
std::string elsewhere(std::string_view pmu, std::string_view event) {
  for (int id = PFM_PMU_NONE; id < PFM_PMU_MAX; ++id) {
    pfm_pmu_info_t info{};
    info.size = sizeof(info);
    if (pfm_get_pmu_info(static_cast<pfm_pmu_t>(id), &info) != PFM_SUCCESS) continue;
    if (info.is_present || (!pmu.empty() && !same_name(pmu, info.name))) continue;
    if (has_event(info, event)) return std::string(info.name) + " (" + info.desc + ")";
  }
  return {};
}

Result<EventSpec> from_pfm(const std::string& name, const Scope& scope) {
  if (const int code = initialize_pfm(); code != PFM_SUCCESS)
    return Error{ErrorCode::kUnavailable, std::string("libpfm4: ") + pfm_strerror(code), {}};
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  char* full_name = nullptr;
  pfm_perf_encode_arg_t argument{};
  argument.size = sizeof(argument);
  argument.attr = &attr;
  argument.fstr = &full_name;
  const unsigned long levels = scope.kernel ? PFM_PLM0 | PFM_PLM3 : PFM_PLM3;
  const int code = pfm_get_os_event_encoding(name.c_str(), levels, PFM_OS_PERF_EVENT, &argument);
  EventSpec spec;
  spec.name = name;
  spec.hardware = true;
  spec.scope = scope;
  if (code == PFM_SUCCESS) {
    spec.resolved = full_name ? full_name : name;
    spec.type = attr.type;
    spec.config = attr.config;
    spec.config1 = attr.config1;
    spec.config2 = attr.config2;
    // "NAME:u" asks for user mode itself.
    spec.scope.kernel = attr.exclude_kernel == 0;
    free(full_name);
    return spec;
  }
  free(full_name);
  std::string_view pmu, event;
  split_pfm_name(name, pmu, event);
  if (const std::string owner = elsewhere(pmu, event); !owner.empty()) {
    spec.available = false;
    spec.reason = "this machine has no PMU with " + in_quotes(name) + ", it is an event of " + owner +
                  "; use a generic event such as cycles, or that processor";
    return spec;
  }
  return bad_input("event " + in_quotes(name) + " is unknown (libpfm4: " + pfm_strerror(code) +
                   "); 'perf list' shows the names of this machine");
}

}  // namespace

Result<std::vector<EventSpec>> resolve(const std::vector<std::string>& names, const Scope& scope) {
  std::vector<EventSpec> specs;
  for (const std::string& name : names) {
    if (const auto event = kernel_event(name)) {
      specs.push_back(from_kernel_event(*event, scope));
      continue;
    }
    uint64_t raw = 0;
    if (parse_raw(name, raw)) {
      EventSpec spec;
      spec.name = spec.resolved = name;
      spec.hardware = true;
      spec.type = PERF_TYPE_RAW;
      spec.config = raw;
      spec.scope = scope;
      specs.push_back(std::move(spec));
      continue;
    }
    STAB_TRY(EventSpec spec, from_pfm(name, scope));
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<std::string_view> known_events() { return kernel_event_names(); }

}  // namespace stab::counters
