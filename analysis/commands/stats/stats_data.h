// StatsData: the columns that `stabctl stats` works on, arranged the way a method wants them.
#pragma once

#include <string>
#include <vector>

#include "analysis/commands/table/csv.h"
#include "analysis/commands/table/method_flags.h"
#include "analysis/statistics/models/linear_model.h"
#include "analysis/statistics/two_samples/t_tests.h"
#include "base/result.h"

namespace stab::commands {

struct NamedSample {
  std::string name;
  std::vector<double> values;
};

// Two samples in pair order.
struct Pairs {
  std::string first_name, second_name;
  std::vector<double> first, second;
  bool by_row_order = false;  // no --pair: the k-th row of one with the k-th of the other, as R does
};

class StatsData {
 public:
  // Reads the columns that the flags name: --response, --group, --pair, --block, --random. Without --response: the only
  // numeric column that no other flag names. --log takes logarithms (refuses values <= 0).
  static Result<StatsData> load(const Arguments& args, const std::string& path);

  // All values of the (first) response, in file order.
  const std::vector<double>& response() const { return responses_[0].numbers; }
  // Of one of these values: the file's data row, counted from 1.
  size_t row_of(size_t value) const { return responses_[0].row_of(value); }
  // Minus the first value: analyses of variance keep the digits of values that differ little.
  std::vector<double> response_near_zero() const;
  const std::string& response_name() const { return responses_[0].name; }
  const std::vector<CsvColumn>& responses() const { return responses_; }

  // What the answer's reader should know of how the file was read; "".
  const std::string& notes() const { return notes_; }

  bool grouped() const { return !groups_.empty(); }
  // Values by level of the first --group column, in the order of levels (--levels overrides it). Without --group
  // and with several responses: one sample for each column. Refuses fewer than `least` samples, or more than
  // `most`.
  Result<std::vector<NamedSample>> samples(size_t least, size_t most) const;
  Result<Pairs> pairs() const;
  // Subjects (or blocks) by treatment: the --pair or --block column against --group; each exactly once.
  Result<std::vector<std::vector<double>>> complete_blocks(std::vector<std::string>* treatments) const;
  // All --group columns, then --block if `with_block`, as factors.
  statistics::FactorCodes factors(bool with_block = false) const;
  const CsvColumn* pair() const { return pair_.empty() ? nullptr : &pair_[0]; }
  // A column that --group or --random names; null where neither does.
  const CsvColumn* named(const std::string& name) const;
  const std::vector<CsvColumn>& groups() const { return groups_; }
  const CsvColumn* block() const { return block_.empty() ? nullptr : &block_[0]; }

 private:
  Status reorder_levels(const std::vector<std::string>& wanted);
  Status put_baseline(const std::string& level, bool first);

  std::string notes_;

  std::vector<CsvColumn> responses_;
  std::vector<CsvColumn> groups_;
  std::vector<CsvColumn> pair_, block_;
  std::vector<CsvColumn> random_;  // those that are not in groups_
};

// check_squares() of each sample: for methods that need a spread.
Status check_squares(const std::vector<NamedSample>& samples);

// --decimal comma or point; without it the numbers tell.
Result<DecimalSign> decimal_of(const Arguments& args);

// "two.sided", "less", "greater".
Result<statistics::Alternative> alternative_of(const Arguments& args);
Result<double> confidence_of(const Arguments& args);

}  // namespace stab::commands
