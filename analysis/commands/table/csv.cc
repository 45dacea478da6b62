// A CSV reader that goes over the text once, keeps only the columns asked for, and stores levels as small
// numbers: a million rows are 34 MB of text and 24 MB of columns. The file is mapped, not copied.
#include "analysis/commands/table/csv.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "analysis/statistics/two_samples/descriptive.h"
#include "base/named_input.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "base/wording.h"

namespace stab::commands {

CsvText::CsvText(CsvText&& other) noexcept
    : name_(std::move(other.name_)),
      owned_(std::move(other.owned_)),
      mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      text_(mapped_ ? other.text_ : std::string_view(owned_)) {}

CsvText::~CsvText() {
  if (mapped_) ::munmap(mapped_, mapped_bytes_);
}

CsvText CsvText::of(std::string text, std::string name) {
  CsvText csv;
  csv.name_ = std::move(name);
  csv.owned_ = std::move(text);
  csv.text_ = csv.owned_;
  return csv;
}

Result<CsvText> CsvText::open(const std::string& path) {
  auto named = open_named_input(path);
  if (!named && named.error().code == ErrorCode::kBadInput) return bad_input(named.error().message + ", not a CSV file");
  STAB_TRY(const UniqueFd file, std::move(named));
  const int fd = file.get();
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_error("stat '" + path + "'", errno);
  CsvText csv;
  csv.name_ = path == "-" ? "standard input" : path;
  if (S_ISREG(status.st_mode) && status.st_size > 0 && path != "-") {
    csv.mapped_bytes_ = static_cast<size_t>(status.st_size);
    void* mapped = ::mmap(nullptr, csv.mapped_bytes_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (mapped == MAP_FAILED) return system_error("map '" + path + "'", errno);
    csv.mapped_ = mapped;
    csv.text_ = {static_cast<const char*>(mapped), csv.mapped_bytes_};
    return csv;
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read '" + path + "'", errno);
    if (got == 0) break;
    if (std::memchr(buffer, 0, static_cast<size_t>(got))) return bad_input("'" + path + "' is no text, it holds a zero byte");
    csv.owned_.append(buffer, static_cast<size_t>(got));
  }
  csv.text_ = csv.owned_;
  return csv;
}

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Walks over fields. After next(), `field` is the field's text (unquoted through `unquoted`, if it was quoted with
// doubled quotes) and `last_in_row` tells whether its row ends there.
class FieldWalker {
 public:
  FieldWalker(std::string_view text, char separator) : at_(text.data()), end_(at_ + text.size()), separator_(separator) {
    if (text.starts_with("\xef\xbb\xbf")) at_ += 3;  // byte order mark
    line_start_ = at_;
  }

  std::string_view field;
  bool last_in_row = false;
  bool quoted = false;

  // How far the memory of an unquoted field goes on; a quoted one ends where it ends.
  const char* readable_end() const { return quoted ? field.data() + field.size() : end_; }
  bool done() const { return at_ == end_; }
  int line() const { return field_line_; }
  int column() const { return field_column_; }

  // Skips lines that hold nothing at all.
  void skip_empty_lines() {
    while (at_ != end_ && (*at_ == '\n' || *at_ == '\r')) {
      if (*at_ == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      }
      ++at_;
    }
  }

  // False: a quote is open at the end, or text follows a closing quote.
  bool next() {
    field_line_ = line_;
    field_column_ = static_cast<int>(at_ - line_start_) + 1;
    quoted = false;
    const char* start = at_;
    while (start != end_ && is_blank(*start)) ++start;
    if (start != end_ && *start == '"') return next_quoted(start + 1);
    // Short fields: a plain loop beats memchr's set-up.
    const char* p = at_;
    while (p != end_ && *p != separator_ && *p != '\n') ++p;
    field = {at_, static_cast<size_t>(p - at_)};
    finish(p);
    if (last_in_row && !field.empty() && field.back() == '\r') field.remove_suffix(1);
    field = trim(field);
    return true;
  }

 private:
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool next_quoted(const char* p) {
    quoted = true;
    buffer_.clear();
    while (true) {
      const char* quote = p;
      while (quote != end_ && *quote != '"') {
        if (*quote == '\n') {
          ++line_;
          line_start_ = quote + 1;
        }
        ++quote;
      }
      if (quote == end_) return false;
      buffer_.append(p, quote);
      p = quote + 1;
      if (p == end_ || *p != '"') break;
      buffer_ += '"';
      ++p;
    }
    while (p != end_ && (is_blank(*p) || *p == '\r')) ++p;
    if (p != end_ && *p != separator_ && *p != '\n') return false;
    field = buffer_;
    finish(p);
    return true;
  }
  void finish(const char* p) {
    last_in_row = p == end_ || *p == '\n';
    if (p != end_ && *p == '\n') {
      ++line_;
      line_start_ = p + 1;
    }
    at_ = p == end_ ? p : p + 1;
  }

  const char* at_;
  const char* end_;
  const char separator_;
  const char* line_start_;
  int line_ = 1;
  int field_line_ = 1;
  int field_column_ = 1;
  std::string buffer_;
};

// Text of levels to their codes in order of appearance.
class LevelTable {
 public:
  // readable_end: bytes up to here may be read, though they lie beyond the text.
  uint32_t code(std::string_view text, const char* readable_end) {
    // Short levels are told apart by one word: their bytes, zero filled. No level holds a zero byte and ends in
    // one, so the word and the length say it all.
    uint64_t word = 0;
    const size_t length = text.size();
    if (length > 8) return insert(text);
    if (readable_end - text.data() >= 8) {
      std::memcpy(&word, text.data(), 8);
      if (length < 8) word &= (uint64_t{1} << (8 * length)) - 1;
    } else {
      std::memcpy(&word, text.data(), length);
    }
    const size_t slot = ((word ^ length) * 0x9e3779b97f4a7c15u) >> 54;
    if (cache_[slot].length == length && cache_[slot].word == word) return cache_[slot].code;
    const uint32_t code = insert(text);
    cache_[slot] = {word, length, code};
    return code;
  }

  // Sorts the levels; returns the new code of each old one.
  std::vector<uint32_t> finish(std::vector<std::string>& levels) const {
    levels.resize(codes_.size());
    for (const auto& [text, code] : codes_) levels[code] = text;
    std::vector<double> numbers(levels.size());
    bool numeric = true;
    for (size_t i = 0; i < levels.size(); ++i) {
      const char* end = levels[i].data() + levels[i].size();
      const auto [stop, error] = std::from_chars(levels[i].data(), end, numbers[i]);
      numeric = numeric && error == std::errc() && stop == end && std::isfinite(numbers[i]);
    }
    std::vector<uint32_t> order(levels.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      if (numeric && numbers[a] != numbers[b]) return numbers[a] < numbers[b];
      return levels[a] < levels[b];
    });
    std::vector<uint32_t> renumbered(levels.size());
    std::vector<std::string> sorted;
    for (uint32_t old : order) {
      renumbered[old] = static_cast<uint32_t>(sorted.size());
      sorted.push_back(std::move(levels[old]));
    }
    levels = std::move(sorted);
    return renumbered;
  }

 private:
  uint32_t insert(std::string_view text) {
    return codes_.try_emplace(std::string(text), static_cast<uint32_t>(codes_.size())).first->second;
  }

  struct Cached {
    uint64_t word = 0;
    size_t length = SIZE_MAX;  // no text
    uint32_t code = 0;
  };
  Cached cache_[1024];  // direct-mapped: most rows end here
  std::unordered_map<std::string, uint32_t> codes_;
};

Error at_field(const CsvText& csv, const FieldWalker& walker, std::string message) {
  return bad_input(std::move(message), {csv.name(), walker.line(), walker.column()});
}

// What a message quotes of a field, which may be as long as the file.
std::string shown(std::string_view text) {
  constexpr size_t kMost = 40;
  return in_quotes(one_line(text.substr(0, 2 * kMost)), kMost);
}

// Of the header's line, quotes left out: the one of ',', ';' and tab that it has; one column: ','.
Result<char> separator_of(const CsvText& csv) {
  const std::string_view text = csv.text();
  size_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false, begun = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' && begun) break;
    begun = begun || (c != '\n' && c != '\r');
    commas += c == ',';
    semicolons += c == ';';
    tabs += c == '\t';
  }
  // A tab beside a comma is a blank, as it has always been.
  if (commas > 0 && semicolons > 0)
    return bad_input("'" + csv.name() +
                     "': its header has commas and semicolons, so what separates its columns can't be told; put names that "
                     "hold one of them in quotes");
  if (semicolons > 0) return ';';
  if (commas == 0 && tabs > 0) return '\t';
  return ',';
}

Result<std::vector<std::string>> header_of(const CsvText& csv, FieldWalker& walker) {
  if (csv.text().starts_with("\xff\xfe") || csv.text().starts_with("\xfe\xff"))
    return bad_input("'" + csv.name() +
                     "' is UTF-16, as spreadsheets write 'Unicode text'; turn it into UTF-8: iconv -f UTF-16 -t UTF-8");
  walker.skip_empty_lines();
  if (walker.done()) return bad_input("'" + csv.name() + "' is empty; the first line must name the columns");
  std::vector<std::string> names;
  do {
    if (!walker.next()) return at_field(csv, walker, "a quote is not closed, or text follows it");
    std::string name(walker.field);
    if (has_control(name)) return at_field(csv, walker, "column name " + shown(name) + " holds a control character");
    if (std::find(names.begin(), names.end(), name) != names.end())
      return at_field(csv, walker, "column '" + name + "' is there twice; rename one");
    names.push_back(std::move(name));
  } while (!walker.last_in_row);
  return names;
}

// What R, pandas and spreadsheets write where there is nothing.
bool marks_missing(std::string_view field) {
  if (field.size() < 2 || field.size() > 4 || (field[0] != 'N' && field[0] != 'n' && field[0] != '#')) return false;
  constexpr std::string_view kWords[] = {"NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "#N/A"};
  return std::find(std::begin(kWords), std::end(kWords), field) != std::end(kWords);
}

// Commas in numbers of a file, and whether they can be decimal signs in all of them.
struct DecimalsSeen {
  DecimalSign allowed = DecimalSign::kAny;
  size_t comma_row = 0, point_row = 0;  // the first that has one; 0: none
  std::string comma_field{}, point_field{};
  bool only_thousands = true;  // each comma stands where one may separate thousands, too: "12,345"
  size_t several_row = 0;      // the first with several commas, which are no decimal sign
};

// "12,345", "1,234,567"; not "0,123".
bool may_be_thousands(std::string_view field) {
  if (!field.empty() && (field.front() == '-' || field.front() == '+')) field.remove_prefix(1);
  const size_t first = field.find(',');
  if (first == 0 || first > 3 || field[0] == '0') return false;
  for (size_t at = first; at < field.size(); at += 4) {
    if (field[at] != ',' || at + 4 > field.size()) return false;
    if (field.substr(at + 1, 3).find_first_not_of("0123456789") != std::string_view::npos) return false;
  }
  return true;
}

// True when the whole field is one finite number.
bool parse_number(std::string_view field, double& number) {
  if (!field.empty() && field.front() == '+') field.remove_prefix(1);
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, number);
  return error == std::errc() && stop == end && std::isfinite(number);
}

// The rest of a decimal that a double can't hold, to the 64 bits of a long double. Matters where values differ in
// digits that the double has lost (NIST StRD SmLs07 to 09: 1000000000000.4). 0 for most fields.
double rest_of(std::string_view field, double number) {
  if (std::fabs(number) < 1e9) return 0;
  std::string text(field);
  std::replace(text.begin(), text.end(), ',', '.');
  const auto digits = std::count_if(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits < 16 && text.find('.') == std::string::npos) return 0;  // a whole number that a double holds
  const long double exact = std::strtold(text.c_str(), nullptr);
  return std::isfinite(exact) ? static_cast<double>(exact - number) : 0;
}

}  // namespace

namespace {

// The same, with a comma for a decimal sign where that may be. row: from 1
bool parse_number(std::string_view field, double& number, DecimalsSeen& seen, size_t row) {
  const bool has_comma = field.find(',') != std::string_view::npos;
  if (!has_comma) {
    if (!parse_number(field, number)) return false;
    const bool has_point = field.find('.') != std::string_view::npos;
    if (has_point && seen.allowed == DecimalSign::kComma) return false;
    if (has_point && seen.point_row == 0) seen.point_row = row, seen.point_field = field;
    return true;
  }
  if (seen.allowed == DecimalSign::kPoint) return false;
  const bool thousands = may_be_thousands(field);
  std::string text(field);
  std::replace(text.begin(), text.end(), ',', '.');
  const bool is_number = parse_number(text, number);
  if (!is_number && !(thousands && seen.allowed == DecimalSign::kAny)) return false;
  if (seen.comma_row == 0) seen.comma_row = row, seen.comma_field = field;
  seen.only_thousands = seen.only_thousands && thousands;
  if (is_number) return true;
  // Whether it is a mistake is known after all rows.
  if (seen.several_row == 0) seen.several_row = row;
  number = 0;
  return true;
}

// After all rows: whether the commas that were taken for decimal signs are.
Status check_decimals(const CsvText& csv, const DecimalsSeen& seen) {
  if (seen.comma_row == 0) return {};
  const std::string comma = "row " + std::to_string(seen.comma_row) + " has " + shown(seen.comma_field);
  if (seen.point_row != 0)
    return bad_input("'" + csv.name() + "': " + comma + ", and row " + std::to_string(seen.point_row) + " " +
                     shown(seen.point_field) + "; write all numbers with one decimal sign, and nothing between thousands");
  if (seen.only_thousands && seen.allowed == DecimalSign::kAny)
    return bad_input("'" + csv.name() + "': " + comma +
                     ", whose comma may be a decimal sign or separate thousands; say --decimal comma, or leave the commas out");
  if (seen.several_row != 0)
    return bad_input("'" + csv.name() + "': row " + std::to_string(seen.several_row) +
                     " has a number with several commas, while others have one for a decimal sign; leave out what separates "
                     "thousands");
  return {};
}

// Levels that rows left out alone had are gone.
void drop_unused_levels(CsvColumn& column) {
  std::vector<uint32_t> renumbered(column.levels.size(), UINT32_MAX);
  std::vector<std::string> used;
  for (const uint32_t code : column.codes) renumbered[code] = 0;
  for (size_t level = 0; level < renumbered.size(); ++level) {
    if (renumbered[level] == UINT32_MAX) continue;
    renumbered[level] = static_cast<uint32_t>(used.size());
    used.push_back(std::move(column.levels[level]));
  }
  column.levels = std::move(used);
  for (uint32_t& code : column.codes) code = renumbered[code];
}

// What a reader of the answer should know of how the file was read; "": nothing.
std::string notes_of(const CsvText& csv, char separator, const DecimalsSeen& seen, const std::vector<size_t>& left_out,
                     size_t rows) {
  std::string said;
  const auto add = [&said](const std::string& words) { said += (said.empty() ? "" : "; ") + words; };
  if (separator != ',') add(std::string("columns are separated by ") + (separator == ';' ? "semicolons" : "tabs"));
  if (seen.comma_row != 0) add("commas are decimal signs");
  if (!left_out.empty()) {
    constexpr size_t kShown = 5;
    std::string numbers;
    for (size_t i = 0; i < std::min(left_out.size(), kShown); ++i) numbers += (i > 0 ? ", " : "") + std::to_string(left_out[i]);
    if (left_out.size() > kShown) numbers += ", ...";
    add(std::to_string(left_out.size()) + " of " + std::to_string(rows) + " rows lack a value and are left out (row " + numbers +
        ")");
  }
  return said.empty() ? said : csv.name() + ": " + said;
}

}  // namespace

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
      if (!walker.next()) return at_field(csv, walker, "a quote is not closed, or text follows it");
      if (column < names.size() && !decided[column] && !walker.field.empty() && (walker.quoted || !marks_missing(walker.field))) {
        double number = 0;
        DecimalsSeen seen{.allowed = csv.decimal()};
        decided[column] = true;
        is_numeric[column] = !walker.quoted && parse_number(walker.field, number, seen, row);
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
  FieldWalker walker(csv.text(), separator);
  STAB_TRY(const std::vector<std::string> names, header_of(csv, walker));
  // For each file column: what to do with it.
  struct Action {
    CsvColumn* number = nullptr;
    CsvColumn* level = nullptr;
    LevelTable* table = nullptr;
  };
  std::vector<CsvColumn> columns(requests.size());
  std::vector<LevelTable> tables(requests.size());
  std::vector<Action> actions(names.size());
  for (size_t r = 0; r < requests.size(); ++r) {
    const auto found = std::find(names.begin(), names.end(), requests[r].name);
    if (found == names.end()) {
      std::string list;
      for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
      const std::string hint = did_you_mean(requests[r].name, names);
      return bad_input("no column '" + requests[r].name + "' in '" + csv.name() + "'; " +
                       (hint.empty() ? "it has " + list : hint));
    }
    columns[r].name = requests[r].name;
    Action& action = actions[static_cast<size_t>(found - names.begin())];
    if (requests[r].kind == CsvKind::kNumber) {
      if (action.number) return bad_input("column '" + requests[r].name + "' is asked for twice");
      action.number = &columns[r];
    } else {
      if (action.level) return bad_input("column '" + requests[r].name + "' is asked for twice");
      action.level = &columns[r];
      action.table = &tables[r];
    }
  }
  // A guess of the number of rows from the first kilobytes, so that columns don't grow by doubling.
  const std::string_view sample = csv.text().substr(0, 1 << 16);
  const auto lines = static_cast<size_t>(std::count(sample.begin(), sample.end(), '\n')) + 1;
  const size_t expected = csv.text().size() / std::max<size_t>(1, sample.size() / lines) + 16;
  for (size_t r = 0; r < requests.size(); ++r) {
    if (requests[r].kind == CsvKind::kNumber) columns[r].numbers.reserve(expected);
    else columns[r].codes.reserve(expected);
  }

  size_t rows = 0, blank_rows = 0;
  std::vector<size_t> left_out;
  DecimalsSeen decimals{.allowed = csv.decimal()};
  for (walker.skip_empty_lines(); !walker.done(); walker.skip_empty_lines()) {
    ++rows;
    size_t column = 0;
    bool lacks = false, is_blank = true;
    do {
      if (!walker.next()) return at_field(csv, walker, "a quote is not closed, or text follows it");
      if (column == names.size())
        return at_field(csv, walker, "row " + std::to_string(rows) + " has more fields than the header's " +
                                         std::to_string(names.size()));
      const Action& action = actions[column];
      is_blank = is_blank && walker.field.empty();
      if (notes && (action.number || action.level) && (walker.field.empty() || (!walker.quoted && marks_missing(walker.field)))) {
        lacks = true;
        ++column;
        continue;
      }
      if (action.number) {
        double number = 0;
        if (!parse_number(walker.field, number, decimals, rows))
          return at_field(csv, walker,
                          "row " + std::to_string(rows) + ", column '" + names[column] +
                              "': " + (walker.field.empty() ? "it is empty" : shown(walker.field) + " is not a finite number") +
                              "; remove the row or repair it");
        if (std::fabs(number) > statistics::kLargestValue)
          return at_field(csv, walker,
                          "row " + std::to_string(rows) + ", column '" + names[column] + "': " + shown(walker.field) +
                              " is so large that its square overflows; rescale the column");
        const double rest = rest_of(walker.field, number);
        if (rest != 0 && action.number->rests.empty()) action.number->rests.resize(action.number->numbers.size());
        action.number->numbers.push_back(number);
        if (rest != 0 || !action.number->rests.empty()) action.number->rests.push_back(rest);
      }
      if (action.level) {
        if (walker.field.empty())
          return at_field(csv, walker, "row " + std::to_string(rows) + ", column '" + names[column] +
                                           "': it is empty; remove the row or name the level");
        if (!walker.quoted && marks_missing(walker.field))
          return at_field(csv, walker, "row " + std::to_string(rows) + ", column '" + names[column] + "': '" +
                                           std::string(walker.field) + "' marks a missing value; remove the row, or put it in "
                                           "quotes if it is a level's name");
        action.level->codes.push_back(action.table->code(walker.field, walker.readable_end()));
      }
      ++column;
    } while (!walker.last_in_row);
    if (column < names.size())
      return at_field(csv, walker, "row " + std::to_string(rows) + " has " + std::to_string(column) +
                                       " fields, the header " + std::to_string(names.size()));
    if (!lacks) continue;
    const size_t kept = rows - left_out.size() - blank_rows - 1;
    for (CsvColumn& one : columns) {
      if (one.numbers.size() > kept) one.numbers.pop_back();
      if (one.rests.size() > kept) one.rests.pop_back();
      if (one.codes.size() > kept) one.codes.pop_back();
    }
    // A row of separators alone is what a spreadsheet writes behind the data.
    if (is_blank) ++blank_rows;
    else left_out.push_back(rows);
  }
  STAB_CHECK_OK(check_decimals(csv, decimals));
  if (rows > 0 && rows == left_out.size() + blank_rows)
    return bad_input("'" + csv.name() + "': all of its " + std::to_string(rows) +
                     " rows lack a value in one of the columns; name others");
  if (notes) *notes = notes_of(csv, separator, decimals, left_out, rows - blank_rows);
  if (rows == 0) return bad_input("'" + csv.name() + "' has a header but no rows");
  for (size_t r = 0; r < requests.size(); ++r) {
    if (requests[r].kind != CsvKind::kLevel) continue;
    const std::vector<uint32_t> renumbered = tables[r].finish(columns[r].levels);
    // Levels are printed; an escape sequence among them would drive the terminal.
    for (const std::string& level : columns[r].levels)
      if (has_control(level))
        return bad_input("column '" + columns[r].name + "' has the level " + shown(level) +
                         " with a control character or line end in it; rename it");
    for (uint32_t& code : columns[r].codes) code = renumbered[code];
    if (!left_out.empty()) drop_unused_levels(columns[r]);
  }
  return columns;
}

}  // namespace stab::commands
