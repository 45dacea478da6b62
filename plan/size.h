// PlanSize: how much a plan makes, in numbers, before any of it is made.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "plan/design.h"
#include "plan/plan.h"

namespace stab::plan {

// A product that stays at the largest number instead of wrapping around.
constexpr uint64_t times(uint64_t a, uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

// "240", "more than 1.8e19" where it doesn't fit.
std::string count_text(uint64_t count);

// Combinations of all levels, before anything is left out.
uint64_t crossing_of(const Plan& plan);

// Trials of one block: cells x workloads x counter passes x runs.
uint64_t block_trials(const Plan& plan, const Design& design);
// Of the whole plan, without preflight and warm-up.
uint64_t trials_of(const Plan& plan, const Design& design);

// kBadInput with the number and the limit where walking the crossing, or naming what is in it, is too much.
Status check_crossing(const Plan& plan);
// The same of builds and trials, once the cells are known.
Status check_trials(const Plan& plan, const Design& design);

}  // namespace stab::plan
