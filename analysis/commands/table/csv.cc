// A CSV reader that goes over the text once, keeps only the columns asked for, and stores levels as small
// numbers: a million rows are 34 MB of text and 24 MB of columns.
#include "analysis/commands/table/csv.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "analysis/commands/table/csv_fields.h"
#include "analysis/commands/table/csv_levels.h"
#include "analysis/commands/table/csv_numbers.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "base/printable.h"
#include "base/table_field.h"
#include "base/wording.h"

namespace stab::commands {
namespace {

Result<std::vector<std::string>> header_of(const CsvText& csv, FieldWalker& walker) {
  if (csv.text().starts_with("\xff\xfe") || csv.text().starts_with("\xfe\xff"))
    return bad_input("'" + csv.name() +
                     "' is UTF-16, as spreadsheets write 'Unicode text'; turn it into UTF-8: iconv -f UTF-16 -t UTF-8");
  walker.skip_empty_lines();
  if (walker.done()) return bad_input("'" + csv.name() + "' is empty; the first line must name the columns");
  std::vector<std::string> names;
  do {
    if (!walker.next()) return at_open_quote(csv, walker);
    std::string name(walker.field);
    if (has_control(name)) return at_field(csv, walker, "column name " + shown_field(name) + " holds a control character");
    if (std::find(names.begin(), names.end(), name) != names.end())
      return at_field(csv, walker, "column '" + name + "' is there twice; rename one");
    names.push_back(std::move(name));
  } while (!walker.last_in_row);
  return names;
}

// Two levels that a reader can't tell apart, as blanks in quotes are a part of a field; "": there are none.
std::string alike_levels(const std::vector<std::string>& levels) {
  const auto has_blanks = [](const std::string& level) { return level.starts_with(' ') || level.ends_with(' '); };
  if (std::none_of(levels.begin(), levels.end(), has_blanks)) return {};
  std::map<std::string_view, const std::string*> seen;
  for (const std::string& level : levels) {
    const size_t first = std::min(level.find_first_not_of(' '), level.size());
    const std::string_view bare = std::string_view(level).substr(first, level.find_last_not_of(' ') + 1 - first);
    if (const auto [other, is_new] = seen.try_emplace(bare, &level); !is_new)
      return shown_field(*other->second) + " and " + shown_field(level);
  }
  return {};
}

// Reads the columns that were asked for.
class TableReader {
 public:
  // leaves_out: rows that lack a value are left out; otherwise they are a fault
  TableReader(const CsvText& csv, const std::vector<CsvRequest>& requests, char separator, bool leaves_out)
      : csv_(csv), requests_(requests), separator_(separator), leaves_out_(leaves_out), walker_(csv.text(), separator),
        numbers_(csv.decimal()), columns_(requests.size()), tables_(requests.size()) {}

  // What each of the file's columns is asked for as.
  Status read_header();
  Status read_rows();
  // Sorts the levels and renumbers the codes.
  Status finish_levels();
  // Faults of the rows as a whole.
  Status check_rows() const;
  // What a reader of the answer should know of how the file was read; "": nothing.
  std::string notes() const;
  bool has_rows() const { return rows_ > 0; }
  std::vector<CsvColumn> take();

 private:
  // What a column of the file is asked for as: numbers, levels, both or nothing.
  struct Wanted {
    CsvColumn* number = nullptr;
    PointsOfColumn points{};  // of its numbers, where semicolons separate columns
    CsvColumn* level = nullptr;
    LevelTable* table = nullptr;
  };

  Status ask(size_t request);
  void reserve();
  Status read_row();
  Status add_number(CsvColumn& column);
  Status add_level(CsvColumn& column, LevelTable& table);
  bool field_is_missing() const { return walker_.field.empty() || (!walker_.quoted && marks_missing(walker_.field)); }
  // Takes back what the present row has added.
  void forget_row();
  std::string row() const { return "row " + std::to_string(rows_); }
  Error at_value(const std::string& message) const {
    return at_field(csv_, walker_, row() + ", column '" + names_[column_] + "': " + message);
  }

  const CsvText& csv_;
  const std::vector<CsvRequest>& requests_;
  const char separator_;
  const bool leaves_out_;
  FieldWalker walker_;
  NumberReader numbers_;
  std::vector<std::string> names_;  // of the header
  std::vector<Wanted> wanted_;      // by column of the file
  std::vector<CsvColumn> columns_;  // by request
  std::vector<LevelTable> tables_;  // by request
  size_t rows_ = 0;
  size_t column_ = 0;  // of the present row
  std::vector<size_t> left_out_, blank_rows_;
};

Status TableReader::read_header() {
  STAB_TRY(names_, header_of(csv_, walker_));
  wanted_.resize(names_.size());
  for (size_t request = 0; request < requests_.size(); ++request) STAB_CHECK_OK(ask(request));
  return {};
}

Status TableReader::ask(size_t request) {
  const std::string& name = requests_[request].name;
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    std::string list;
    for (const std::string& one : names_) list += (list.empty() ? "" : ", ") + one;
    const std::string hint = did_you_mean(name, names_);
    return bad_input("no column '" + name + "' in '" + csv_.name() + "'; " + (hint.empty() ? "it has " + list : hint));
  }
  CsvColumn& column = columns_[request];
  column.name = name;
  Wanted& wanted = wanted_[static_cast<size_t>(found - names_.begin())];
  const bool is_number = requests_[request].kind == CsvKind::kNumber;
  if ((is_number ? wanted.number : wanted.level) != nullptr) return bad_input("column '" + name + "' is asked for twice");
  if (is_number) {
    wanted.number = &column;
  } else {
    wanted.level = &column;
    wanted.table = &tables_[request];
  }
  return {};
}

// A guess of the number of rows from the first kilobytes, so that columns don't grow by doubling.
void TableReader::reserve() {
  const std::string_view text = csv_.text(), sample = text.substr(0, 1 << 16);
  const auto lines = static_cast<size_t>(std::count(sample.begin(), sample.end(), '\n')) + 1;
  const size_t expected = text.size() / std::max<size_t>(1, sample.size() / lines) + 16;
  for (const Wanted& wanted : wanted_) {
    if (wanted.number) wanted.number->numbers.reserve(expected);
    if (wanted.level) wanted.level->codes.reserve(expected);
  }
}

Status TableReader::read_rows() {
  reserve();
  for (walker_.skip_empty_lines(); !walker_.done(); walker_.skip_empty_lines()) STAB_CHECK_OK(read_row());
  return {};
}

Status TableReader::read_row() {
  ++rows_;
  bool lacks = false, is_blank = true;
  for (column_ = 0;; ++column_) {
    if (!walker_.next()) return at_open_quote(csv_, walker_);
    if (column_ == names_.size())
      return at_field(csv_, walker_, row() + " has more fields than the header's " + std::to_string(names_.size()));
    Wanted& wanted = wanted_[column_];
    is_blank = is_blank && walker_.field.empty();
    if (leaves_out_ && (wanted.number || wanted.level) && field_is_missing()) {
      lacks = true;
    } else {
      if (wanted.number) STAB_CHECK_OK(add_number(*wanted.number));
      if (wanted.number && separator_ == ';' && csv_.decimal() == DecimalSign::kAny) wanted.points.see(walker_.field, rows_);
      if (wanted.level) STAB_CHECK_OK(add_level(*wanted.level, *wanted.table));
    }
    if (walker_.last_in_row) break;
  }
  const size_t fields = column_ + 1;
  if (fields < names_.size())
    return at_field(csv_, walker_, row() + " has " + std::to_string(fields) + " fields, the header " +
                                       std::to_string(names_.size()));
  if (!lacks) return {};
  forget_row();
  // A row of separators alone is what a spreadsheet writes behind the data.
  (is_blank ? blank_rows_ : left_out_).push_back(rows_);
  return {};
}

Status TableReader::add_number(CsvColumn& column) {
  double number = 0;
  if (!numbers_.read(walker_.field, number, rows_))
    return at_value((walker_.field.empty() ? "it is empty" : shown_field(walker_.field) + " is not a finite number") +
                    "; remove the row or repair it");
  if (std::fabs(number) > statistics::kLargestValue)
    return at_value(shown_field(walker_.field) + " is so large that its square overflows; rescale the column");
  const double rest = rest_of(walker_.field, number);
  if (rest != 0 && column.rests.empty()) column.rests.resize(column.numbers.size());
  column.numbers.push_back(number);
  if (rest != 0 || !column.rests.empty()) column.rests.push_back(rest);
  return {};
}

Status TableReader::add_level(CsvColumn& column, LevelTable& table) {
  if (walker_.field.empty()) return at_value("it is empty; remove the row or name the level");
  if (!walker_.quoted && marks_missing(walker_.field))
    return at_value("'" + std::string(walker_.field) +
                    "' marks a missing value; remove the row, or put it in quotes if it is a level's name");
  column.codes.push_back(table.code(walker_.field, walker_.readable_end()));
  return {};
}

void TableReader::forget_row() {
  const size_t kept = rows_ - left_out_.size() - blank_rows_.size() - 1;
  for (CsvColumn& one : columns_) {
    if (one.numbers.size() > kept) one.numbers.pop_back();
    if (one.rests.size() > kept) one.rests.pop_back();
    if (one.codes.size() > kept) one.codes.pop_back();
  }
}

Status TableReader::check_rows() const {
  STAB_CHECK_OK(numbers_.check(csv_.name()));
  for (const Wanted& wanted : wanted_)
    if (const PointsOfColumn& points = wanted.points; !numbers_.has_seen_commas() && points.are_doubtful())
      return bad_input("'" + csv_.name() + "': row " + std::to_string(points.pointed_row()) + " has " +
                       shown_field(points.pointed()) + ", and row " + std::to_string(points.bare_row()) + " " +
                       shown_field(points.bare()) +
                       ": the point may be a decimal sign or separate thousands; say --decimal point, or leave the points out");
  if (rows_ > 0 && rows_ == left_out_.size() + blank_rows_.size())
    return bad_input("'" + csv_.name() + "': all of its " + std::to_string(rows_) +
                     " rows lack a value in one of the columns; name others");
  return {};
}

Status TableReader::finish_levels() {
  for (size_t request = 0; request < requests_.size(); ++request) {
    if (requests_[request].kind != CsvKind::kLevel) continue;
    CsvColumn& column = columns_[request];
    const std::vector<uint32_t> renumbered = tables_[request].finish(column.levels);
    // Levels are printed; an escape sequence among them would drive the terminal.
    for (const std::string& level : column.levels)
      if (has_control(level))
        return bad_input("column '" + column.name + "' has the level " + shown_field(level) +
                         " with a control character or line end in it; rename it");
    for (uint32_t& code : column.codes) code = renumbered[code];
    if (!left_out_.empty()) drop_unused_levels(column.levels, column.codes);
  }
  return {};
}

std::vector<CsvColumn> TableReader::take() {
  std::vector<size_t> gone;
  std::merge(left_out_.begin(), left_out_.end(), blank_rows_.begin(), blank_rows_.end(), std::back_inserter(gone));
  for (CsvColumn& column : columns_) column.left_out = gone, column.lacking = left_out_.size();
  return std::move(columns_);
}

std::string TableReader::notes() const {
  std::string said;
  const auto add = [&said](const std::string& words) { said += (said.empty() ? "" : "; ") + words; };
  if (separator_ != ',') add(std::string("columns are separated by ") + (separator_ == ';' ? "semicolons" : "tabs"));
  if (numbers_.has_seen_commas()) add("commas are decimal signs");
  if (!left_out_.empty()) {
    constexpr size_t kShown = 5;
    std::string rows;
    for (size_t i = 0; i < std::min(left_out_.size(), kShown); ++i) rows += (i > 0 ? ", " : "") + std::to_string(left_out_[i]);
    if (left_out_.size() > kShown) rows += ", ...";
    add(std::to_string(left_out_.size()) + " of " + std::to_string(rows_ - blank_rows_.size()) +
        " rows lack a value and are left out (row " + rows + ")");
  }
  for (const CsvColumn& column : columns_)
    if (const std::string alike = alike_levels(column.levels); !alike.empty())
      add("column '" + column.name + "' has levels that differ by blanks alone: " + alike);
  return said.empty() ? said : csv_.name() + ": " + said;
}

}  // namespace

size_t CsvColumn::row_of(size_t value) const {
  // Of the rows that are left out those that stand before it: fewer values than it are before each of them, or as many.
  size_t before = 0, end = left_out.size();
  while (before < end) {
    const size_t middle = before + (end - before) / 2;
    if (left_out[middle] - 1 - middle <= value) before = middle + 1;
    else end = middle;
  }
  return value + 1 + before;
}

Result<std::vector<std::string>> csv_header(const CsvText& csv) {
  STAB_TRY(const char separator, separator_of(csv));
  FieldWalker walker(csv.text(), separator);
  return header_of(csv, walker);
}

Result<std::vector<std::string>> csv_numeric_columns(const CsvText& csv) {
  STAB_TRY(const char separator, separator_of(csv));
  FieldWalker walker(csv.text(), separator);
  STAB_TRY(const std::vector<std::string> names, header_of(csv, walker));
  // Of each column the first field that is there decides.
  constexpr size_t kMostRows = 1000;
  std::vector<bool> decided(names.size()), is_numeric(names.size());
  for (size_t row = 1; row <= kMostRows; ++row) {
    walker.skip_empty_lines();
    if (walker.done()) break;
    for (size_t column = 0;; ++column) {
      if (!walker.next()) return at_open_quote(csv, walker);
      if (column < names.size() && !decided[column] && !walker.field.empty() && (walker.quoted || !marks_missing(walker.field))) {
        double number = 0;
        decided[column] = true;
        is_numeric[column] = !walker.quoted && NumberReader(csv.decimal()).read(walker.field, number, row);
      }
      if (walker.last_in_row) break;
    }
    if (std::find(decided.begin(), decided.end(), false) == decided.end()) break;
  }
  std::vector<std::string> numeric;
  for (size_t column = 0; column < names.size(); ++column)
    if (is_numeric[column]) numeric.push_back(names[column]);
  return numeric;
}

Status check_response_is_no_level(const std::vector<CsvRequest>& requests) {
  for (const CsvRequest& number : requests)
    for (const CsvRequest& level : requests)
      if (number.kind == CsvKind::kNumber && level.kind == CsvKind::kLevel && number.name == level.name)
        return bad_input("column " + in_quotes(number.name) +
                         " is the response, and can't be what values are grouped by as well");
  return {};
}

Result<std::vector<CsvColumn>> read_csv(const CsvText& csv, const std::vector<CsvRequest>& requests, std::string* notes) {
  STAB_TRY(const char separator, separator_of(csv));
  TableReader reader(csv, requests, separator, notes != nullptr);
  STAB_CHECK_OK(reader.read_header());
  STAB_CHECK_OK(reader.read_rows());
  STAB_CHECK_OK(reader.check_rows());
  if (!reader.has_rows()) return bad_input("'" + csv.name() + "' has a header but no rows");
  STAB_CHECK_OK(reader.finish_levels());
  if (notes) *notes = reader.notes();
  return reader.take();
}

}  // namespace stab::commands
