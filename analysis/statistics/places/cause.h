// Is the difference of two builds their code, or its place? Decided from four times a block: both builds as they were linked,
// and both in one random layout that they share.
//
// In each block T = plain new - plain old, C = random new - random old, P = T - C, all differences of logarithms of CPU times.
// C is what the code differs by, averaged over places; P is what the places of these two links add.
//
// What is claimed, and how often it may be wrong. "It is there" takes an interval without zero; "it is not there" takes an
// interval inside the margin (two one-sided tests), never the want of the former. C and P have half of alpha each, and each
// spends its half over the declared looks (Lan and DeMets 1983, Pocock's function). An effect can be called there only wrongly
// where it is zero, and absent only wrongly where it is beyond the margin, so each errs in at most one way, and all together
// in at most alpha. To call code absent excuses a change, which is the worst of errors: there the interval must lie within
// half of the margin. Next to a place a change of code within the margin is named once it is sure by a fifth of the error that it
// may have; until then more blocks may show that it is absent. Of a place that seems less than the margin, where T is shown to be
// less too, the answer is nothing: what one sees does not matter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

// With fewer nothing is known of their spread.
inline constexpr uint32_t kLeastCauseBlocks = 3;

// Logarithms of CPU times of the four trials of one block.
struct CauseBlock {
  double plain_old = 0, plain_new = 0, random_old = 0, random_new = 0;
};

struct CauseSettings {
  double margin = 0.01;  // as a share
  double alpha = 0.05;
  std::vector<uint32_t> looks = {10, 20, 40, 80, 160, 320, 640};  // blocks; ascending
};

enum class CauseVerdict { kCode, kPlace, kBoth, kNothing, kUnresolved };
std::string_view word_of(CauseVerdict verdict);  // "code"
inline bool names_code(CauseVerdict verdict) { return verdict == CauseVerdict::kCode || verdict == CauseVerdict::kBoth; }

enum class EffectState {
  kThere,   // excludes zero, and may lie beyond the margin
  kSmall,   // excludes zero, and lies within the margin
  kAbsent,  // lies within the margin
  kOpen,
};
std::string_view word_of(EffectState state);  // "there"

// A difference of logarithms, and its interval.
struct CauseEffect {
  double estimate = 0, low = 0, high = 0;
  double spread = 0;  // sd of a block's value
  EffectState state = EffectState::kOpen;
};

struct CauseAnswer {
  CauseVerdict verdict = CauseVerdict::kUnresolved;
  CauseEffect plain;  // T; in no family, its interval is that of one question
  CauseEffect code;   // C
  CauseEffect place;  // P
  uint32_t blocks = 0;
  double confidence = 0;  // of the intervals of C and P at this look
  // Blocks after which it would be settled with a probability of some 80 %, were the estimates right; absent where it is
  // settled, or where an estimate lies so near a margin that no number of blocks tells.
  std::optional<uint32_t> settles_at;
};

// The probability that an interval of this look leaves the truth out by itself, after so many blocks. `earlier`: the blocks of
// the looks before it, which need not be the declared ones: each spends as much as a declared one. `is_last`: no look follows,
// for a reason that the data had no say in, such as a budget: what is left of alpha is spent.
// kBadInput: looks that don't ascend. pre: fewer earlier looks than are declared, and none has settled it
Result<double> nominal_alpha(const CauseSettings& settings, std::span<const uint32_t> earlier, uint32_t blocks, bool is_last);

// What follows a look that settles nothing: so many blocks, and another look. 0: none follows.
struct NextCauseLook {
  uint32_t more = 0;
  bool is_cut = false;  // the time ends before the next declared look; with blocks: what follows is the last look
  bool is_for_functions = false;  // the time has come in which a known place is looked into
};
// `earlier`: looks before the one after `blocks`; `until_functions`: blocks that fit into the time until a known place is looked
// into; `in_all`: blocks that fit into the whole time. Next is the declared look, or, where that would come later, one when the
// time for functions begins, or the last one when all time is over. By time alone, so that it costs no false answers.
NextCauseLook next_cause_look(const CauseSettings& settings, size_t earlier, uint32_t blocks, uint32_t until_functions,
                              uint32_t in_all);

// What running in copies may cost the new build more than the old one, in logarithms of its time: C has it, T doesn't, so code
// and place may each be wrong by it. From `low` to `high`, and nobody knows where: a part of every interval.
struct CopyPrice {
  double low = 0, high = 0;
};

// The answer of these blocks, by intervals that err with this probability each. An answer other than kUnresolved is final.
// kBadInput: fewer than three blocks, or a time that is no number. pre: 0 < nominal < 1
Result<CauseAnswer> decide_cause(std::span<const CauseBlock> blocks, const CauseSettings& settings, double nominal,
                                 const CopyPrice& price = {});

}  // namespace stab::statistics
