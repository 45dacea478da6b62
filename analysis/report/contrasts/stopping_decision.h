// Stopping: what a look may conclude, and when an experiment may end early.
//
// Looks (group sequential): at look k of K, after n_k of n_K replicates, a p-value is not compared with alpha but with
// the share of alpha that the spending function gives to this look. Two equivalent forms of that are used here: the
// *repeated p-value*, the smallest alpha at which the boundary of this look would be crossed, which goes through Holm
// like any p-value, and the *repeated confidence interval*, whose level is what the boundary stands for (Jennison &
// Turnbull, "Group Sequential Methods", 2000, ch. 9). Boundaries hold for z; t statistics are judged by the level
// that z stands for (ibid. 4.4), which simulations in tests/unit/analysis check.
//
// A confidence sequence (analysis/statistics/looks/confidence_sequence.h): the same two forms, but no look is declared, since the
// intervals after all numbers of replicates together keep alpha. For contrasts within blocks it holds where these are normal,
// and by the bets of judged_estimate.h also where they are not. Where an error comes from elsewhere (links that recur, cells of
// unequal spread) t alone is judged, by the level that a t of as many blocks has at that boundary; simulations in
// tests/bench/sequence_table.cc say how often that errs. One-sided tests take half
// of alpha, as both sides of the mixture are alike.
//
// Precision (Stein 1945): the spread of the first stage alone sets the number of replicates, and goes into the interval
// with the first stage's degrees of freedom, so that the interval's coverage doesn't depend on when one stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "base/result.h"

namespace stab::report {

// What p-values and intervals mean at one look.
class LookLevels {
 public:
  // A fixed plan, or the end of a precision plan: p is p, intervals are at 1 - alpha and 1 - 2 alpha.
  explicit LookLevels(double alpha) : alpha_(alpha), interval_(alpha), equivalence_(2 * alpha) {}
  // Look `index` of looks at these fractions of the information, by a spending function: the classic boundaries are
  // refused, they hold for all their looks together only. alpha below 0.245.
  static Result<LookLevels> at_look(statistics::Spending spending, const std::vector<double>& fractions, size_t index,
                                    double alpha);
  // A confidence sequence after `replicates`, whose intervals are narrowest at `narrowest_at`. pre: replicates >= 2
  static LookLevels in_sequence(uint32_t replicates, double narrowest_at, double alpha);

  double interval() const { return interval_; }        // the two-sided level that alpha's interval has at this look
  double equivalence() const { return equivalence_; }  // and 2 alpha's
  bool bounded() const { return bounded_; }            // false: a sequence with too few replicates for any interval
  // The repeated p-value; in a sequence the anytime-valid one, 1/E. Kept within [1e-8, 1] where looks are spent.
  double p(double nominal) const;
  double alpha() const { return alpha_; }
  bool is_sequence() const { return mixture_ > 0; }
  double mixture() const { return mixture_; }  // g of a sequence (confidence_sequence.h)

 private:
  double alpha_, interval_, equivalence_;
  double replicates_ = 0, mixture_ = 0;  // of a sequence: n and g
  bool bounded_ = true;
  // Logarithms of (nominal level at this look, alpha), both ascending; empty: a fixed plan.
  std::vector<std::pair<double, double>> curve_;
};

// Complete passes over the cells: the largest block's number + 1, without blocks the draws of a cell; 0 without trials.
uint32_t replicates_of(const Samples& samples);

// Blocks that ran in slices, or alone: of the workload that has the fewest. All blocks are of the first kind where none is
// sliced.
uint32_t blocks_of(const Samples& samples, bool alone);

// The look that `replicates` belong to: the first that holds at least as many; the last one beyond. pre: rule kLooks
size_t look_index(const Stopping& stopping, uint32_t replicates);

// More replicates than the plan's last look: no boundary holds any more. False where no looks are declared.
bool beyond_last_look(const Samples& samples);

// Whether these samples may be judged: at the end, or at a declared look, or whenever a sequence has its first replicates.
bool may_be_judged(const Samples& samples);

// Where a sequence's intervals are narrowest: between its first replicates and its last ones (their geometric mean).
double narrowest_replicates(const Stopping& stopping);

// Of fewer blocks nothing is said when the time is over: too little is known of their spread.
inline constexpr uint32_t kFewestBlocksAtEnd = 6;

// The samples as they were when time ran out that had been set before any of them was seen: the first `blocks`, which are whole,
// and the last of them is the end, or the last look. A declared look's boundary is the one of looks planned up to there, where
// the earlier ones could have spent more of alpha than they did: all looks together err at most as often as alpha says. A
// sequence may end after any block. Absent for plans that end by precision, and before the first replicates of a sequence.
// pre: blocks >= 2
std::optional<Samples> judged_when_time_ended(const Samples& samples, uint32_t blocks);

// How the verdicts of these samples are to be judged, by their stopping rule and the replicates they hold.
Result<LookLevels> levels_of(const Samples& samples);
// The same where so many blocks answer, and not all that ran: a sequence's width is by those. pre: blocks > 0
Result<LookLevels> levels_of(const Samples& samples, uint32_t blocks);

// The trials of the first `replicates` blocks.
Samples first_blocks(const Samples& samples, uint32_t replicates);

// How the plan ends and where this is, for a report's header; empty for fixed plans.
std::string stopping_text(const Stopping& stopping, uint32_t replicates, bool incomplete);

struct LookOutcome {
  size_t index = 0, looks = 1;
  double level = 0.05;           // nominal, of the (1 - alpha) intervals
  double critical_value = 0;     // of |z|; of declared looks
  uint64_t settled = 0;          // contrasts of declared responses that are changed or equivalent
  uint64_t open = 0;             // those that are unsure
  uint64_t worse = 0;            // those that are shown to be worse, where that ends the experiment
  bool stop = false;             // nothing is open, something is worse where that is enough, or it is the last look
  std::string text;              // one line for people
};
// The look after `replicates`, one of stopping.looks, or any from the first of a sequence on; trials of later blocks are
// ignored. Contrasts over programs like these and those that are refused don't hold an experiment up: replicates can't settle
// them.
Result<LookOutcome> look(const Samples& samples, uint32_t replicates);

// The relative half width of the widest (1 - alpha) interval of a contrast of a declared response, from the first
// `replicates` blocks: on the log scale exp(h) - 1, else h as a share of what the baseline's cells average.
Result<double> widest_half_width(const Samples& samples, uint32_t replicates);

}  // namespace stab::report
