#include "analysis/page/looks_data.h"

#include <algorithm>
#include <vector>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/statistics/looks/alpha_spending.h"

namespace stab::page {
namespace {

constexpr int kCurvePoints = 40;
constexpr uint32_t kMostSequenceLooks = 120;

struct Looks {
  std::vector<double> replicates, spent, nominal;  // at each look
  std::vector<double> curve_at, curve_spent;       // of the spending function, between them
};

Result<Looks> declared(const report::Stopping& stopping, double alpha) {
  Looks out;
  const double last = stopping.looks.back();
  std::vector<double> fractions;
  for (const uint32_t at : stopping.looks) fractions.push_back(at / last);
  STAB_TRY(const std::vector<statistics::Look> looks, statistics::alpha_spending(stopping.spending, fractions, alpha, false));
  for (size_t i = 0; i < looks.size(); ++i) {
    out.replicates.push_back(stopping.looks[i]);
    out.spent.push_back(looks[i].spent);
    out.nominal.push_back(looks[i].nominal_p);
  }
  // What the function gives out up to each moment is what a first look at that moment would be given.
  for (int i = 1; i <= kCurvePoints; ++i) {
    const double fraction[] = {static_cast<double>(i) / kCurvePoints};
    const auto one = statistics::alpha_spending(stopping.spending, fraction, alpha, false);
    if (!one) continue;
    out.curve_at.push_back(fraction[0] * last);
    out.curve_spent.push_back((*one)[0].spent);
  }
  return out;
}

Looks of_sequence(const report::Samples& samples, uint32_t now) {
  Looks out;
  const uint32_t first = std::max(2u, samples.stopping.first), last = std::max({first, samples.stopping.max, now});
  const uint32_t step = (last - first) / kMostSequenceLooks + 1;
  // A page that is verified may say any number: beyond the largest one of 32 bits there are no replicates, and no way back to 0.
  for (uint64_t wide = first; wide <= last; wide += step) {
    const auto at = static_cast<uint32_t>(wide);
    const report::LookLevels levels =
        report::LookLevels::in_sequence(at, report::narrowest_replicates(samples.stopping), samples.alpha);
    if (!levels.bounded()) continue;
    out.replicates.push_back(at);
    out.nominal.push_back(levels.interval());
  }
  return out;
}

}  // namespace

void write_looks(text::JsonWriter& json, const report::Samples& samples) {
  const report::Stopping& stopping = samples.stopping;
  const bool sequence = stopping.rule == report::StoppingRule::kSequence;
  if (!sequence && (stopping.rule != report::StoppingRule::kLooks || stopping.looks.size() < 2)) return;
  const uint32_t now = report::replicates_of(samples);
  Looks looks;
  if (sequence) {
    looks = of_sequence(samples, now);
  } else {
    auto found = declared(stopping, samples.alpha);
    if (!found) return;
    looks = *std::move(found);
  }
  json.begin_object("looks").value("rule", sequence ? "sequence" : "looks").value("alpha", samples.alpha);
  if (!sequence)
    json.value("spending", stopping.spending == statistics::Spending::kPocock ? "Pocock" : "O'Brien-Fleming");
  json.value("now", uint64_t{now}).numbers("replicates", looks.replicates).numbers("nominal", looks.nominal);
  json.numbers("spent", looks.spent).numbers("curve_at", looks.curve_at).numbers("curve_spent", looks.curve_spent).end();
}

}  // namespace stab::page
