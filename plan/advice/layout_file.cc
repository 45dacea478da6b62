// A line is a word and what follows it. Names are checked by what a symbol may hold, so that nothing in a file can become an
// option, a path or a second line further on.
#include "plan/advice/layout_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>

#include "base/cpu_model.h"
#include "base/unique_fd.h"
#include "base/wording.h"

namespace stab::advice {

// What symbols of C, C++, Rust and Fortran consist of, and what compilers put behind them (".llvm.123", "@plt" is none).
bool is_function_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
  };
  return !name.empty() && name.size() <= kMostNameBytes && std::all_of(name.begin(), name.end(), fits);
}

namespace {

constexpr std::string_view kFirstWord = "stab-layout";
constexpr size_t kMostTextBytes = 1000;  // of a header line
constexpr size_t kMostMeasured = 256;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// What a message quotes of a line, which may be as long as the file.
std::string shown(std::string_view text) {
  return in_quotes(text, 80);
}

// One line, taken apart from its begin.
class Line {
 public:
  Line(std::string_view text, const std::string& file, int number) : text_(text), file_(file), number_(number) { skip(); }

  bool at_end() const { return at_ == text_.size(); }
  std::string_view word() {
    from_ = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    const std::string_view out = text_.substr(from_, at_ - from_);
    skip();
    return out;
  }
  std::string_view rest() {
    from_ = at_;
    at_ = text_.size();
    std::string_view out = text_.substr(from_);
    while (!out.empty() && is_blank(out.back())) out.remove_suffix(1);
    return out;
  }
  // At the word that was taken last.
  Error wrong(const std::string& message) const { return bad_input(message, {file_, number_, static_cast<int>(from_) + 1}); }

 private:
  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  std::string_view text_;
  const std::string& file_;
  int number_;
  size_t at_ = 0, from_ = 0;
};

bool is_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
}

Result<std::string> take_name(Line& line) {
  const std::string_view name = line.word();
  if (is_function_name(name)) return std::string(name);
  return line.wrong(name.empty() ? std::string("a function's name is missing")
                                 : shown(name) + " is no name of a function, such as main or _ZN5Board4moveEv");
}

Result<uint32_t> take_number(Line& line, std::string_view what, uint32_t least, uint32_t most) {
  const std::string_view word = line.word();
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (!word.empty() && error == std::errc() && end == word.data() + word.size() && value >= least && value <= most) return value;
  return line.wrong(shown(word) + " behind '" + std::string(what) + "': expected a number from " + std::to_string(least) +
                    " to " + std::to_string(most));
}

Status take_keyword(Line& line, std::string_view keyword) {
  const std::string_view word = line.word();
  if (word == keyword) return {};
  return line.wrong((word.empty() ? std::string("the line ends") : shown(word)) + " where '" + std::string(keyword) +
                    "' is expected: place NAME mod M at R [bytes N]");
}

Result<FixedPlace> take_place(Line& line, std::set<std::string>& placed) {
  FixedPlace place;
  STAB_TRY(place.function, take_name(line));
  if (!placed.insert(place.function).second) return line.wrong(shown(place.function) + " has a place already");
  STAB_CHECK_OK(take_keyword(line, "mod"));
  STAB_TRY(place.modulus, take_number(line, "mod", kLeastModulus, kMostModulus));
  if (!std::has_single_bit(place.modulus))
    return line.wrong("mod " + std::to_string(place.modulus) + " is no power of two from 32 to 4096");
  STAB_CHECK_OK(take_keyword(line, "at"));
  STAB_TRY(place.remainder, take_number(line, "at", 0, place.modulus - 1));
  if (place.remainder % kGrain != 0)
    return line.wrong("at " + std::to_string(place.remainder) + " is no multiple of 16, by which functions are aligned");
  if (line.at_end()) return place;
  STAB_CHECK_OK(take_keyword(line, "bytes"));
  STAB_TRY(place.bytes, take_number(line, "bytes", 1, INT32_MAX));
  return place;
}

// Words that have the rest of their line as a value, each at most once.
std::string* header_of(LayoutFile& file, std::string_view word) {
  if (word == "program") return &file.program;
  if (word == "experiment") return &file.experiment;
  if (word == "workload") return &file.workload;
  if (word == "binary") return &file.binary;
  return word == "cpu" ? &file.cpu : nullptr;
}

Result<std::string> take_text(Line& line, std::string_view word) {
  const std::string_view text = line.rest();
  if (text.empty() || text.size() > kMostTextBytes || !is_text(text))
    return line.wrong(shown(word) + " needs a text of 1 to " + std::to_string(kMostTextBytes) + " printable bytes");
  return std::string(text);
}

Status take_line(Line& line, LayoutFile& file, std::set<std::string>& placed, std::set<std::string>& ordered) {
  const std::string_view word = line.word();
  const auto too_many = [&] { return line.wrong("more than " + std::to_string(kMostFunctions) + " lines of this kind"); };
  if (std::string* header = header_of(file, word)) {
    if (!header->empty()) return line.wrong(shown(word) + " is said twice");
    STAB_TRY(*header, take_text(line, word));
    return {};
  }
  if (word == "measured") {
    if (file.measured.size() == kMostMeasured) return too_many();
    STAB_TRY(std::string text, take_text(line, word));
    file.measured.push_back(std::move(text));
    return {};
  }
  if (word == "place") {
    if (file.places.size() == kMostFunctions) return too_many();
    STAB_TRY(FixedPlace place, take_place(line, placed));
    file.places.push_back(std::move(place));
  } else if (word == "order") {
    if (file.order.size() == kMostFunctions) return too_many();
    STAB_TRY(std::string name, take_name(line));
    if (!ordered.insert(name).second) return line.wrong(shown(name) + " is in the order already");
    file.order.push_back(std::move(name));
  } else {
    return line.wrong(shown(word) +
                      " begins no line of a layout file: program, experiment, workload, binary, cpu, measured, "
                      "place or order");
  }
  if (line.at_end()) return {};
  const std::string_view more = line.word();
  return line.wrong(shown(more) + " is more than the line says");
}

Status check_first(Line& line) {
  const std::string_view word = line.word();
  if (word != kFirstWord)
    return line.wrong("this is no layout file: its first line is 'stab-layout 1'; 'stabctl layout emit' writes one");
  const std::string_view version = line.word();
  if (version == std::to_string(kLayoutFileVersion) && line.at_end()) return {};
  return line.wrong("version " + shown(version) + " of layout files is not known here; this is version 1");
}

}  // namespace

Result<LayoutFile> parse_layout_file(std::string_view text, const std::string& name) {
  if (text.size() > kMostFileBytes)
    return bad_input("'" + name + "' has " + std::to_string(text.size()) + " bytes, and a layout file at most " +
                     std::to_string(kMostFileBytes));
  LayoutFile file;
  std::set<std::string> placed, ordered;
  bool begun = false;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view of_line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (of_line.ends_with('\r')) of_line.remove_suffix(1);
    Line line(of_line, name, number);
    if (line.at_end() || of_line.starts_with('#')) continue;
    STAB_CHECK_OK(begun ? take_line(line, file, placed, ordered) : check_first(line));
    begun = true;
  }
  if (!begun) return bad_input("'" + name + "' is empty; 'stabctl layout emit' writes a layout file");
  if (file.program.empty())
    return bad_input("'" + name + "' names no program; write 'program NAME', the file name of the executable");
  if (file.program.find('/') != std::string::npos)
    return bad_input("'" + name + "': program '" + file.program + "' is a path; write the executable's file name alone");
  if (file.cpu.empty()) return bad_input("'" + name + "' names no CPU model; write 'cpu MODEL', or 'cpu any' for all of them");
  if (file.places.empty() && file.order.empty())
    return bad_input("'" + name + "' places no function; write 'place NAME mod 64 at 0'");
  return file;
}

Result<LayoutFile> read_layout_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return system_error("open '" + path + "'", errno);
  if (!S_ISREG(status.st_mode)) return bad_input("'" + path + "' is not a regular file");
  std::string text(kMostFileBytes + 1, 0);
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + have, text.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read '" + path + "'", errno);
    if (count == 0) break;
    have += static_cast<size_t>(count);
  }
  text.resize(have);
  return parse_layout_file(text, path);
}

std::string text_of(const LayoutFile& file) {
  std::string out = std::string(kFirstWord) + " " + std::to_string(kLayoutFileVersion) + "\n";
  const auto header = [&out](const char* word, const std::string& text) {
    if (!text.empty()) out += std::string(word) + " " + text + "\n";
  };
  header("program", file.program);
  header("experiment", file.experiment);
  header("workload", file.workload);
  header("binary", file.binary);
  header("cpu", file.cpu);
  for (const std::string& line : file.measured) header("measured", line);
  for (const FixedPlace& place : file.places) {
    out += "place " + place.function + " mod " + std::to_string(place.modulus) + " at " + std::to_string(place.remainder);
    if (place.bytes > 0) out += " bytes " + std::to_string(place.bytes);
    out += "\n";
  }
  for (const std::string& function : file.order) out += "order " + function + "\n";
  return out;
}

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  return cpu_model_of(std::string(std::istreambuf_iterator<char>(cpuinfo), {}));
}

Status check_cpu(const LayoutFile& file, const std::string& here, const std::string& name) {
  if (file.cpu == kAnyCpu || file.cpu == here) return {};
  return bad_input("'" + name + "' was measured on '" + file.cpu + "', and this machine is '" +
                   (here.empty() ? "unknown" : here) +
                   "': places that are fast on one model may be slow on another; map the program here, or write 'cpu any' into "
                   "the file to build all the same");
}

}  // namespace stab::advice
