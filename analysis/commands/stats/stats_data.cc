// From columns of a file to samples, pairs, blocks and factors.
#include "analysis/commands/stats/stats_data.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "base/wording.h"

namespace stab::commands {
namespace {


// The columns that --random names, "a,a:b" both of them, but for those that the fixed effects have, too.
std::vector<std::string> columns_of_random(const Arguments& args, const std::vector<std::string>& known) {
  std::vector<std::string> out;
  for (std::string term : args.list("random")) {
    while (!term.empty()) {
      const size_t colon = std::min(term.find(':'), term.size());
      const std::string name = term.substr(0, colon);
      term.erase(0, std::min(colon + 1, term.size()));
      if (std::find(known.begin(), known.end(), name) == known.end() && std::find(out.begin(), out.end(), name) == out.end())
        out.push_back(name);
    }
  }
  return out;
}

}  // namespace

Result<StatsData> StatsData::load(const Arguments& args, const std::string& path) {
  STAB_TRY(CsvText csv, CsvText::open(path));
  STAB_TRY(const DecimalSign decimal, decimal_of(args));
  csv.set_decimal(decimal);
  std::vector<std::string> responses = args.list("response");
  const std::vector<std::string> groups = args.list("group");
  const std::string pair = args.text("pair"), block = args.text("block");
  const std::vector<std::string> random = columns_of_random(args, groups);
  if (responses.empty()) {
    STAB_TRY(const std::vector<std::string> numeric, csv_numeric_columns(csv));
    for (const std::string& name : numeric)
      if (name != pair && name != block && std::find(groups.begin(), groups.end(), name) == groups.end() &&
          std::find(random.begin(), random.end(), name) == random.end())
        responses.push_back(name);
    if (responses.size() != 1) {
      std::string list;
      for (const std::string& name : responses) list += (list.empty() ? "" : ", ") + name;
      return bad_input(responses.empty() ? "no numeric column in '" + path + "'; name one with --response"
                                         : "which column is the response: " + list + "? say --response NAME");
    }
  }
  std::vector<CsvRequest> requests;
  for (const std::string& name : responses) requests.push_back({name, CsvKind::kNumber});
  for (const std::string& name : groups) requests.push_back({name, CsvKind::kLevel});
  if (!pair.empty()) requests.push_back({pair, CsvKind::kLevel});
  if (!block.empty() && block != pair) requests.push_back({block, CsvKind::kLevel});
  for (const std::string& name : random) requests.push_back({name, CsvKind::kLevel});
  STAB_CHECK_OK(check_response_is_no_level(requests));
  StatsData data;
  STAB_TRY(std::vector<CsvColumn> columns, read_csv(csv, requests, &data.notes_));
  size_t at = 0;
  for (size_t i = 0; i < responses.size(); ++i) data.responses_.push_back(std::move(columns[at++]));
  for (size_t i = 0; i < groups.size(); ++i) data.groups_.push_back(std::move(columns[at++]));
  if (!pair.empty()) data.pair_.push_back(std::move(columns[at++]));
  if (!block.empty()) data.block_.push_back(block == pair ? data.pair_[0] : std::move(columns[at++]));
  for (size_t i = 0; i < random.size(); ++i) data.random_.push_back(std::move(columns[at++]));
  if (args.has("log")) {
    for (CsvColumn& column : data.responses_) {
      for (size_t row = 0; row < column.numbers.size(); ++row) {
        if (column.numbers[row] <= 0)
          return bad_input("row " + std::to_string(column.row_of(row)) + ", column " + in_quotes(column.name) + ": " +
                           number_text(column.numbers[row]) + " has no logarithm; leave out --log or the row");
        column.numbers[row] = std::log(column.numbers[row]);
      }
      column.rests.clear();
    }
  }
  if (args.has("levels") && args.has("baseline"))
    return bad_input("--levels has the baseline in its order; leave --baseline out");
  if (args.has("levels")) STAB_CHECK_OK(data.reorder_levels(args.list("levels")));
  // Differences are the first level less the second; of more levels, and in a mixed model, the others less the first.
  if (args.has("baseline")) STAB_CHECK_OK(data.put_baseline(args.text("baseline"), args.has("random")));
  return data;
}

const CsvColumn* StatsData::named(const std::string& name) const {
  for (const std::vector<CsvColumn>* columns : {&groups_, &random_})
    for (const CsvColumn& column : *columns)
      if (column.name == name) return &column;
  return nullptr;
}

std::vector<double> StatsData::response_near_zero() const {
  const CsvColumn& column = responses_[0];
  std::vector<double> shifted(column.numbers);
  for (size_t row = 0; row < shifted.size(); ++row) {
    shifted[row] -= column.numbers[0];
    if (!column.rests.empty()) shifted[row] += column.rests[row] - column.rests[0];
  }
  return shifted;
}

Status StatsData::reorder_levels(const std::vector<std::string>& wanted) {
  if (groups_.empty()) return bad_input("--levels orders the levels of --group, which is missing");
  CsvColumn& group = groups_[0];
  std::vector<uint32_t> renumbered(group.levels.size(), UINT32_MAX);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::find(group.levels.begin(), group.levels.end(), wanted[i]);
    if (found == group.levels.end()) {
      const std::string meant = did_you_mean(wanted[i], group.levels);
      return bad_input("column " + in_quotes(group.name) + " has no level " + in_quotes(wanted[i]) + "; " +
                       (meant.empty() ? "--levels names those that the column has" : meant));
    }
    renumbered[static_cast<size_t>(found - group.levels.begin())] = static_cast<uint32_t>(i);
  }
  if (wanted.size() != group.levels.size())
    return bad_input("--levels names " + std::to_string(wanted.size()) + " of the " + std::to_string(group.levels.size()) +
                     " levels of " + in_quotes(group.name) + "; name all");
  if (std::find(renumbered.begin(), renumbered.end(), UINT32_MAX) != renumbered.end())
    return bad_input("--levels names a level twice");
  for (uint32_t& code : group.codes) code = renumbered[code];
  group.levels = wanted;
  return {};
}

Status StatsData::put_baseline(const std::string& level, bool first) {
  if (groups_.empty()) return bad_input("--baseline is a level of --group, which is missing");
  std::vector<std::string> order = groups_[0].levels;
  const auto found = std::find(order.begin(), order.end(), level);
  if (found == order.end()) {
    const std::string meant = did_you_mean(level, order);
    return bad_input("column " + in_quotes(groups_[0].name) + " has no level " + in_quotes(level) + " to be the baseline; " +
                     (meant.empty() ? "name one that it has" : meant));
  }
  std::rotate(order.begin(), found, found + 1);
  if (order.size() == 2 && !first) std::swap(order[0], order[1]);
  return reorder_levels(order);
}

Result<std::vector<NamedSample>> StatsData::samples(size_t least, size_t most) const {
  std::vector<NamedSample> samples;
  if (groups_.empty()) {
    for (const CsvColumn& column : responses_) samples.push_back({column.name, column.numbers});
  } else {
    const CsvColumn& group = groups_[0];
    for (const std::string& level : group.levels) samples.push_back({level, {}});
    for (size_t row = 0; row < group.codes.size(); ++row)
      samples[group.codes[row]].values.push_back(response()[row]);
  }
  if (samples.size() < least || samples.size() > most) {
    const std::string wanted = most == least            ? std::to_string(least)
                               : samples.size() > most ? "at most " + std::to_string(most)
                                                       : "at least " + std::to_string(least);
    if (groups_.empty()) return bad_input("this method compares " + wanted + " groups; name the column with --group");
    return bad_input("this method compares " + wanted + " groups, but column " + in_quotes(groups_[0].name) + " has " +
                     plural(samples.size(), "level"));
  }
  return samples;
}

Result<Pairs> StatsData::pairs() const {
  STAB_TRY(const std::vector<NamedSample> two, samples(2, 2));
  Pairs pairs;
  pairs.first_name = two[0].name;
  pairs.second_name = two[1].name;
  if (groups_.empty() || pair_.empty()) {
    if (two[0].values.size() != two[1].values.size())
      return bad_input("groups of " + std::to_string(two[0].values.size()) + " and " +
                       std::to_string(two[1].values.size()) + " can't be paired by row; name the subject with --pair");
    pairs.first = two[0].values;
    pairs.second = two[1].values;
    pairs.by_row_order = !groups_.empty();
    // What stands behind a row that is left out would move up, to another partner.
    if (pairs.by_row_order && responses_[0].lacking > 0)
      return bad_input(plural(responses_[0].lacking, "row") + (responses_[0].lacking == 1 ? " lacks" : " lack") +
                       " a value, and by row order it can't be told which pairs those are of; name the subject with --pair, or "
                       "remove both rows of each such pair");
    return pairs;
  }
  STAB_TRY(const auto blocks, complete_blocks(nullptr));
  for (const auto& block : blocks) {
    pairs.first.push_back(block[0]);
    pairs.second.push_back(block[1]);
  }
  return pairs;
}

Result<std::vector<std::vector<double>>> StatsData::complete_blocks(std::vector<std::string>* treatments) const {
  const CsvColumn* subject = block() ? block() : pair();
  if (groups_.empty() || !subject)
    return bad_input("this method needs the treatment in --group and the subject or block in --pair or --block");
  const CsvColumn& group = groups_[0];
  // Each pair needs a row of its own: no table is made that the file can't fill.
  const double needed = static_cast<double>(subject->levels.size()) * static_cast<double>(group.levels.size());
  constexpr double kMostUnchecked = 1e6;
  if (needed > kMostUnchecked && needed != static_cast<double>(group.codes.size()))
    return bad_input(std::to_string(subject->levels.size()) + " levels of '" + subject->name + "' with " +
                     std::to_string(group.levels.size()) + " of " + in_quotes(group.name) + " need a value each, the file has " +
                     std::to_string(group.codes.size()) + " rows");
  std::vector<std::vector<double>> blocks(subject->levels.size(), std::vector<double>(group.levels.size()));
  std::vector<std::vector<int>> seen(subject->levels.size(), std::vector<int>(group.levels.size()));
  for (size_t row = 0; row < group.codes.size(); ++row) {
    const uint32_t s = subject->codes[row], t = group.codes[row];
    blocks[s][t] = response()[row];
    ++seen[s][t];
  }
  for (size_t s = 0; s < seen.size(); ++s)
    for (size_t t = 0; t < group.levels.size(); ++t)
      if (seen[s][t] != 1)
        return bad_input(subject->name + " " + in_quotes(subject->levels[s]) + " has " + std::to_string(seen[s][t]) +
                         " values of " + in_quotes(group.levels[t]) + "; each needs exactly one");
  if (treatments) *treatments = group.levels;
  return blocks;
}

statistics::FactorCodes StatsData::factors(bool with_block) const {
  statistics::FactorCodes factors;
  const auto add = [&factors](const CsvColumn& column) {
    factors.names.push_back(column.name);
    factors.level_names.push_back(column.levels);
    factors.codes.push_back(column.codes);
  };
  for (const CsvColumn& group : groups_) add(group);
  if (with_block && block()) add(*block());
  return factors;
}

Status check_squares(const std::vector<NamedSample>& samples) {
  for (const NamedSample& sample : samples)
    if (const Status status = statistics::check_squares(sample.values); !status)
      return bad_input(in_quotes(sample.name) + ": " + status.error().message);
  return {};
}

Result<DecimalSign> decimal_of(const Arguments& args) {
  const std::string word = args.text("decimal", "any");
  if (word == "any") return DecimalSign::kAny;
  if (word == "point") return DecimalSign::kPoint;
  if (word == "comma") return DecimalSign::kComma;
  return bad_input("--decimal takes point or comma, got '" + word + "'");
}

Result<statistics::Alternative> alternative_of(const Arguments& args) {
  const std::string text = args.text("alternative", "two.sided");
  if (text == "two.sided") return statistics::Alternative::kTwoSided;
  if (text == "less") return statistics::Alternative::kLess;
  if (text == "greater") return statistics::Alternative::kGreater;
  return bad_input("--alternative takes two.sided, less or greater, got '" + text + "'");
}

Result<double> confidence_of(const Arguments& args) {
  STAB_TRY(const double conf, args.number("conf", 0.95));
  if (!(conf > 0 && conf < 1)) return bad_input("--conf takes a level between 0 and 1, got '" + args.text("conf") + "'");
  // Both ends of an interval at a level of nearly 0 are its estimate, and rounding decides which of them is the lower.
  constexpr double kLeast = 1e-6;
  if (conf < kLeast)
    return bad_input("--conf is " + args.text("conf") + ", and below 1e-6 an interval is a point; take a higher level");
  return conf;
}

}  // namespace stab::commands
