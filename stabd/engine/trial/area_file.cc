// The area is larger than what is used of it, so it is read in pieces, through the file: a look at a hole of a mapping would make
// a page.
#include "stabd/engine/trial/area_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>

namespace stab::engine {
namespace {

using causal::Area;

// What no count or time reaches, so that sums don't overflow.
constexpr uint64_t kMostNumber = uint64_t{1} << 62;
// How long the companion waits for its program, which is started as soon as the machine is ready for it.
constexpr uint64_t kPatienceNs = 120'000'000'000;

Error corrupt(const std::string& what) {
  return Error{ErrorCode::kCorrupt, "the trial's area says " + what + ": another process of this user has written to it", {}};
}

Status put(int fd, const void* data, size_t bytes, size_t at) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(fd, from, bytes, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return system_error("write a causal trial's script", errno);
    from += done, at += static_cast<size_t>(done), bytes -= static_cast<size_t>(done);
  }
  return {};
}

Status get(int fd, void* data, size_t bytes, size_t at) {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pread(fd, to, bytes, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return system_error("read a causal trial's area", errno);
    to += done, at += static_cast<size_t>(done), bytes -= static_cast<size_t>(done);
  }
  return {};
}

std::string hex(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};
  return text;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Result<causal::Module> module_of(const ScriptModule& module) {
  causal::Module out{};
  if (module.path.size() >= sizeof out.path)
    return bad_input("'" + module.path + "' is longer than a causal trial's module may be, " +
        std::to_string(sizeof out.path - 1) +
                     " bytes; build in a directory with a shorter name");
  std::memcpy(out.path, module.path.data(), module.path.size());
  for (size_t i = 0; i + 1 < module.build_id.size() && out.build_id_bytes < sizeof out.build_id; i += 2) {
    const int high = digit(module.build_id[i]), low = digit(module.build_id[i + 1]);
    if (high < 0 || low < 0) return bad_input("'" + module.build_id + "' is no build id");
    out.build_id[out.build_id_bytes++] = static_cast<uint8_t>(high << 4 | low);
  }
  return out;
}

// Text up to its end, without what no name has.
std::string text_of(const char* text, size_t most) {
  std::string out(text, ::strnlen(text, most));
  return std::all_of(out.begin(), out.end(), [](unsigned char c) { return c >= ' ' && c != 127; }) ? out : std::string();
}

// All members of a record that are numbers of 64 bits.
bool is_bounded(const void* data, size_t bytes) {
  for (size_t at = 0; at + 8 <= bytes; at += 8) {
    uint64_t number;
    std::memcpy(&number, static_cast<const char*>(data) + at, 8);
    if (number > kMostNumber) return false;
  }
  return true;
}

bool is_record(const causal::WindowRecord& window, const CausalScript& script) {
  if (window.arm >= script.arms.size()) return false;
  const causal::Arm& arm = script.arms[window.arm];
  constexpr size_t kFirstNumber = offsetof(causal::WindowRecord, start_ns);
  constexpr auto kMost = static_cast<int64_t>(kMostNumber);
  if (window.foreign_ns < -kMost || window.foreign_ns > kMost) return false;
  causal::WindowRecord numbers = window;
  numbers.foreign_ns = 0;
  return window.kind == arm.kind && window.region == arm.region && window.speedup_permille == arm.speedup_permille &&
         is_bounded(reinterpret_cast<const char*>(&numbers) + kFirstNumber, sizeof numbers - kFirstNumber);
}

}  // namespace

Result<AreaFile> AreaFile::create(const CausalScript& script) {
  if (script.modules.size() > causal::kMaxModules || script.ranges.size() > causal::kMaxRanges ||
      script.arms.size() > causal::kMaxArms || script.region_count > causal::kMaxRegions)
    return Error{ErrorCode::kInternal, "a causal script beyond its bounds", {}};
  UniqueFd fd(::memfd_create("stab-causal", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("memfd_create", errno);
  if (::ftruncate(fd.get(), static_cast<off_t>(sizeof(Area))) != 0) return system_error("ftruncate", errno);
  // Whoever shortened it would end us when we read.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return system_error("seal a memfd", errno);
  std::vector<causal::Module> modules;
  for (const ScriptModule& module : script.modules) {
    STAB_TRY(modules.emplace_back(), module_of(module));
  }
  causal::Script head{};
  std::memcpy(head.magic, causal::kAreaMagic, sizeof head.magic);
  head.version = causal::kCausalVersion;
  head.header_bytes = static_cast<uint32_t>(sizeof(Area));
  head.flags = script.flags;
  head.period_ns = script.period_ns;
  head.window_ns = script.window_ns;
  head.cooloff_ns = script.cooloff_ns;
  head.least_visits = script.least_visits;
  head.most_prolonged = script.most_prolonged;
  head.skip_look_ns = script.skip_look_ns;
  head.attach_patience_ns = kPatienceNs;
  head.pauses = script.pauses;
  head.load_permille = script.load_permille;
  head.module_count = static_cast<uint32_t>(modules.size());
  head.range_count = static_cast<uint32_t>(script.ranges.size());
  head.region_count = script.region_count;
  head.arm_count = static_cast<uint32_t>(script.arms.size());
  AreaFile area(std::move(fd));
  STAB_CHECK_OK(put(area.fd(), modules.data(), modules.size() * sizeof(causal::Module), offsetof(Area, modules)));
  STAB_CHECK_OK(put(area.fd(), script.ranges.data(), script.ranges.size() * sizeof(causal::Range), offsetof(Area, ranges)));
  STAB_CHECK_OK(put(area.fd(), script.arms.data(), script.arms.size() * sizeof(causal::Arm), offsetof(Area, arms)));
  STAB_CHECK_OK(put(area.fd(), &head, sizeof head, offsetof(Area, script)));
  return area;
}

Result<CausalRecord> AreaFile::read(const CausalScript& script) const {
  CausalRecord record;
  const auto state = std::make_unique<causal::State>();
  STAB_CHECK_OK(get(fd(), state.get(), sizeof *state, offsetof(Area, state)));
  record.finished = state->finished;
  record.attached = state->attached;
  record.pauses = state->pauses;
  if (state->finished > causal::kBadScript) return corrupt("that it is in no state");
  if (static_cast<uint32_t>(state->pauses) >= static_cast<uint32_t>(causal::Pauses::kCount)) return corrupt("pauses of no kind");
  if (state->windows_used > causal::kMaxWindows || state->points_used > causal::kPointSlots) return corrupt("more than fits");
  const uint64_t modules_used = std::min<uint64_t>(state->modules_used, causal::kMaxModules);
  for (const uint64_t number :
       {state->samples, state->samples_in_ranges, state->samples_by_caller, state->samples_unattributed, state->samples_late,
        state->samples_lost, state->credited_ns, state->spun_wall_ns, state->spun_counted_ns, state->world_blocked_ns,
            state->waits,
        state->waits_classified, state->cpu_ns, state->run_ns, state->global, state->start_ns, state->first_attach_ns})
    if (number > kMostNumber) return corrupt("a number that no trial reaches");
  if (!is_bounded(state->region_samples, sizeof state->region_samples) || !is_bounded(state->region_ns, sizeof state->region_ns))
    return corrupt("more samples than there is time for");
  record.state = *state;
  for (uint32_t bit = 0; bit < static_cast<uint32_t>(causal::Degraded::kCount); ++bit)
    if (state->degradations >> bit & 1) record.degradations.push_back(causal::kDegradedWords[bit]);

  std::vector<causal::Module> modules(std::max<size_t>(modules_used, script.modules.size()));
  STAB_CHECK_OK(get(fd(), modules.data(), modules.size() * sizeof(causal::Module), offsetof(Area, modules)));
  for (const causal::Module& module : modules)
    record.modules.push_back({text_of(module.path, sizeof module.path),
                              hex(module.build_id, std::min<size_t>(module.build_id_bytes, sizeof module.build_id)),
                              (module.flags & causal::kModuleSeen) != 0});
  constexpr size_t kAtOnce = 4096;
  std::vector<causal::HistogramCell> cells(kAtOnce);
  for (size_t first = 0; first < causal::kHistogramCells; first += kAtOnce) {
    STAB_CHECK_OK(get(fd(), cells.data(), kAtOnce * sizeof cells[0], offsetof(Area, histogram) + first * sizeof cells[0]));
    for (const causal::HistogramCell& cell : cells) {
      if (cell.key == 0 || cell.count == 0) continue;
      const uint64_t module = cell.key >> 48;
      const bool is_there = module > 0 && (module <= modules.size() || module == causal::kMaxModules + 1);
      if (!is_there || cell.count > kMostNumber) return corrupt("samples in no module");
      record.histogram.push_back({static_cast<uint32_t>(module - 1), cell.key & ((uint64_t{1} << 48) - 1), cell.count});
    }
  }
  std::array<causal::PointName, causal::kPointSlots> points;
  STAB_CHECK_OK(get(fd(), points.data(), sizeof points, offsetof(Area, points)));
  for (uint32_t number = 1; number < causal::kPointSlots; ++number) {
    const causal::PointName& point = points[number];
    const std::string name = text_of(point.name, sizeof point.name);
    if (point.kind == 0 || point.kind >= static_cast<uint32_t>(progress::Kind::kCount) || name.empty()) continue;
    record.points.push_back({number, name, point.kind});
  }
  for (uint32_t i = 0; i < state->windows_used; ++i) {
    causal::WindowRecord window;
    STAB_CHECK_OK(get(fd(), &window, sizeof window, offsetof(Area, windows) + i * sizeof window));
    if ((window.flags & causal::kWindowWhole) != 0) continue;
    if (!is_record(window, script)) return corrupt("a window that the script doesn't have");
    record.windows.push_back(window);
  }
  return record;
}

}  // namespace stab::engine
