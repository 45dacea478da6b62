#include "stabd/daemon/upkeep/proven_time.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace stab::daemon {
namespace {

constexpr int64_t kOfEachStart = std::chrono::nanoseconds(std::chrono::hours(24)).count();
constexpr int64_t kFaster = 2;

std::optional<ProvenTime> written_in(const std::string& file) {
  ProvenTime out;
  std::ifstream in(file);
  if (!(in >> out.date_ns >> out.uptime_ns >> out.boot_id) || out.date_ns < 0 || out.uptime_ns < 0) return std::nullopt;
  return out;
}

// Whole or not at all.
void keep_in(const std::string& file, const ProvenTime& time) {
  const std::string part = file + ".part";
  std::ofstream out(part, std::ios::trunc);
  out << time.date_ns << ' ' << time.uptime_ns << ' ' << time.boot_id << '\n';
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(part, file, failed);
  if (!out || failed) std::filesystem::remove(part, failed);
}

}  // namespace

ProvenTime proven(const std::optional<ProvenTime>& last, int64_t clock_ns, int64_t uptime_ns, const std::string& boot_id) {
  if (!last) return {clock_ns, uptime_ns, boot_id};
  const bool is_same_start = last->boot_id == boot_id && uptime_ns >= last->uptime_ns;
  const int64_t passed = is_same_start ? kFaster * (uptime_ns - last->uptime_ns) : kFaster * uptime_ns + kOfEachStart;
  const int64_t date_ns = clock_ns - last->date_ns <= passed ? std::max(clock_ns, last->date_ns) : last->date_ns + passed;
  return {date_ns, uptime_ns, boot_id};
}

int64_t proven_now_ns(const std::string& file, const Clock& clock, const std::string& boot_id) {
  const int64_t clock_ns = clock.realtime().count();
  const ProvenTime now = proven(written_in(file), clock_ns, clock.monotonic_raw().count(), boot_id);
  keep_in(file, now);
  return std::min(now.date_ns, clock_ns);
}

}  // namespace stab::daemon
