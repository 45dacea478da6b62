#include "stabd/daemon/events/blinding.h"

#include <sys/random.h>

#include <cmath>
#include <cstdio>

#include "base/rng.h"

namespace stab::daemon {
namespace {

constexpr double kLargestShift = 2;

uint64_t drawn_secret() {
  uint64_t secret = 0;
  // Eight bytes come whole once the kernel has entropy, which it waits for.
  while (::getrandom(&secret, sizeof secret, 0) != static_cast<ssize_t>(sizeof secret)) {}
  return secret;
}

}  // namespace

Blinding::Blinding() : secret_(drawn_secret()) {}

std::string Blinding::mask(store::Id experiment, const std::string& cell) const {
  char text[24];
  const uint64_t drawn = Rng::stream(secret_, "mask " + cell, static_cast<uint64_t>(experiment)).next();
  std::snprintf(text, sizeof text, "cell %08llx", static_cast<unsigned long long>(drawn >> 32));
  return text;
}

double Blinding::shift(store::Id experiment, const std::string& subject, const std::string& cell) const {
  // Lengths first: no two pairs are the same text.
  const std::string purpose = "shift " + std::to_string(subject.size()) + " " + subject + cell;
  return kLargestShift * (2 * Rng::stream(secret_, purpose, static_cast<uint64_t>(experiment)).uniform() - 1);
}

ToldTrial Blinding::masked(store::Id experiment, engine::TrialNews news) const {
  if (!news.wall_ns) return {std::move(news), {}, {}};
  ToldTrial told{std::move(news), {}, {}};
  if (*told.news.wall_ns > 0) {
    told.relative_log_s =
        std::log(static_cast<double>(*told.news.wall_ns) / 1e9) + shift(experiment, told.news.subject, told.news.cell);
    told.news.wall_ns.reset();
  }
  told.news.cell = mask(experiment, told.news.cell);
  return told;
}

engine::Precision Blinding::masked(store::Id experiment, const engine::Precision& precision) const {
  engine::Precision told;  // sorted by the masks, so not in the design's order
  for (engine::CellTimes times : precision.cells()) {
    const double constant = shift(experiment, times.subject, times.cell);
    if (times.own.n > 0) times.own.mean += constant;
    for (auto& [layout, shared] : times.shared) shared.mean += constant;
    times.cell = mask(experiment, times.cell);
    told.add(times);
  }
  return told;
}

void Blinding::unmask(store::Id experiment) {
  const std::lock_guard<std::mutex> held(mutex_);
  unmasked_.insert(experiment);
}

bool Blinding::is_known_unmasked(store::Id experiment) const {
  const std::lock_guard<std::mutex> held(mutex_);
  return unmasked_.count(experiment) != 0;
}

Result<bool> Blinding::is_unmasked(store::Store& store, store::Id experiment) {
  if (is_known_unmasked(experiment)) return true;
  STAB_TRY(const bool found, store.has_event(experiment, engine::kUnmasked));
  if (found) unmask(experiment);
  return found;
}

}  // namespace stab::daemon
