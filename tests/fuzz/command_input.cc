// Inputs of the command fuzzers: reading, changing, and judging what came out.
#include "tests/fuzz/command_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/rng.h"

namespace stab::fuzz {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const CommandInput& input, const std::string& why) {
  std::string line;
  for (const std::string& word : input.words) line += word + " ";
  std::fprintf(stderr, "%s\n  %s\n%s\n", why.c_str(), line.c_str(), input.file.c_str());
  std::abort();
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Whether a number lies so far out that a result may overflow. Words are looked at as a whole.
bool far_out(const std::string& word) {
  char* end = nullptr;
  const double value = std::fabs(std::strtod(word.c_str(), &end));
  return end != word.c_str() && value != 0 && (value > 1e30 || value < 1e-30);
}

// Without what a message quotes of its input, which may hold the very words that are looked for.
std::string unquoted(const std::string& message) {
  std::string out;
  bool quoted = false;
  for (const char c : message) {
    if (c == '\'') quoted = !quoted;
    if (!quoted) out += c;
  }
  return out;
}

// One line, of what a reader may not expect of the way in which the file was read.
bool tells_how_the_file_was_read(const std::string& message) {
  if (std::count(message.begin(), message.end(), '\n') != 1 || !message.ends_with("\n")) return false;
  const auto says = [&message](const char* words) { return message.find(words) != std::string::npos; };
  return says(": columns are separated by ") || says("commas are decimal signs") ||
         says(" rows lack a value and are left out (row ");
}

// A level at which a quantile is as large as any number.
bool nearly_one(const std::string& word) {
  const double value = std::strtod(word.c_str(), nullptr);
  return value < 1 && value > 1 - 1e-9;
}

bool holds_far_numbers(const CommandInput& input) {
  for (const std::string& word : input.words)
    if (far_out(word) || nearly_one(word)) return true;
  std::string field;
  for (char c : input.file + "\n") {
    if (c != ',' && c != '\n' && c != '"' && c != ' ') {
      field += c;
      continue;
    }
    if (far_out(field)) return true;
    field.clear();
  }
  return false;
}

// ---- changing -------------------------------------------------------------------------------------------

struct Dice {
  Rng rng;
  size_t below(size_t bound) { return static_cast<size_t>(rng.below(bound)); }
  bool one_in(size_t n) { return below(n) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& items) { return items[below(items.size())]; }
};

const std::vector<std::string> kNumbers{
    "0", "1", "2", "3", "4", "5", "7", "10", "20", "50", "100", "0.5", "0.05", "0.01", "0.8", "0.9", "0.95", "0.99", "1.5", "-1",
    "-0.5", "1e-17", "1e-9", "1e-160", "1e-300", "1e15", "1e16", "5000000", "1e100", "1e150", "1e300", "0.9999999999999999",
    "0.0000001", "1e-5", "1000000", "4294967296", "0.3", "0.25", "6", "200", "1e308", "-1e150", "1%", "nan", "inf", ""};

std::string number(Dice& dice, int style) {
  char text[40];
  const double u = dice.rng.uniform(), v = dice.rng.uniform();
  double value = 0;
  switch (style) {
    case 0: value = std::floor(5 * u); break;                                 // ties
    case 1: value = 10 + std::sqrt(-2 * std::log(1 - u)) * std::cos(6.283 * v); break;
    case 2: value = std::exp(3 * u - v); break;
    case 3: value = 1e15 + std::floor(9 * u) - 4; break;                      // near the end of a double's digits
    case 4: value = 1e-200 * (1 + u); break;                                  // squares underflow
    case 5: value = 1e149 * (u - 0.5); break;                                 // squares nearly overflow
    case 6: value = 7; break;
    case 7: value = u < 0.5 ? 10 : 20; break;
    case 8: value = u; break;                                                 // probabilities
    case 9: value = std::pow(10, 300 * (u - 0.5)); break;
    default: value = std::floor(100 * u) / 100; break;
  }
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string new_file(Dice& dice) {
  const std::vector<std::string> names{"y", "g", "h", "s", "b", "k"};
  const size_t columns = 1 + dice.below(names.size()), rows = dice.one_in(4) ? dice.below(120) : 2 + dice.below(30);
  const int style = static_cast<int>(dice.below(11));
  std::vector<size_t> levels;
  for (size_t c = 0; c < columns; ++c) levels.push_back(dice.one_in(6) ? 1 + dice.below(40) : 1 + dice.below(4));
  const bool crossed = !dice.one_in(3);
  std::string out;
  for (size_t c = 0; c < columns; ++c) out += (c ? "," : "") + names[c];
  out += "\n";
  for (size_t row = 0; row < rows; ++row) {
    out += number(dice, dice.one_in(30) ? static_cast<int>(dice.below(11)) : style);
    size_t rest = row;
    for (size_t c = 1; c < columns; ++c) {
      const size_t level = crossed ? rest % levels[c] : dice.below(levels[c]);
      rest /= levels[c];
      out += "," + names[c] + std::to_string(level);
    }
    out += dice.one_in(50) ? "\r\n" : "\n";
  }
  return out;
}

std::vector<std::string> columns_of(const std::string& file) {
  std::vector<std::string> columns = split(file.substr(0, file.find('\n')), ',');
  if (columns.empty()) columns.push_back("y");
  return columns;
}

std::string value_for(Dice& dice, const std::string& flag, const std::string& file) {
  const std::vector<std::string> columns = columns_of(file);
  if (dice.one_in(40)) return dice.of(kNumbers);
  if (flag == "response") return dice.one_in(8) ? dice.of(columns) : columns[0];
  if (flag == "pair" || flag == "block" || flag == "cluster" || flag == "within") return dice.of(columns);
  if (flag == "group" || flag == "factors") {
    std::string list = columns.size() > 1 ? columns[1] : columns[0];
    for (size_t c = 2; c < columns.size(); ++c)
      if (dice.one_in(2)) list += "," + columns[c];
    return list;
  }
  if (flag == "model" || flag == "error") {
    std::string formula;
    for (size_t c = 0; c < 1 + dice.below(4); ++c)
      formula += (formula.empty() ? "" : std::vector<std::string>{"+", "*", ":"}[dice.below(3)]) + dice.of(columns);
    return formula;
  }
  if (flag == "levels") return "g" + std::to_string(dice.below(2)) + ",g" + std::to_string(dice.below(2));
  if (flag == "control") return "g" + std::to_string(dice.below(4));
  if (flag == "alternative") return dice.of(std::vector<std::string>{"two.sided", "less", "greater", "one.sided"});
  if (flag == "design") return dice.of(std::vector<std::string>{"two.sample", "one.sample", "paired"});
  if (flag == "statistic") return dice.of(std::vector<std::string>{"mean", "median", "sd"});
  if (flag == "function")
    return dice.of(std::vector<std::string>{"obrien-fleming", "pocock", "classic-obrien-fleming", "classic-pocock"});
  if (flag == "type") return std::to_string(1 + dice.below(9));
  if (flag == "probs" || flag == "fractions") return dice.of(kNumbers) + "," + dice.of(kNumbers) + ",1";
  if (flag == "resamples") return std::to_string(100 + dice.below(400));
  if (flag == "conf" || flag == "power" || flag == "alpha" || flag == "p")
    return dice.one_in(3) ? dice.of(kNumbers) : dice.of(std::vector<std::string>{"0.9", "0.95", "0.8", "0.5", "0.05", "0.01"});
  return dice.of(kNumbers);
}

void add_flag(Dice& dice, CommandInput& input, const std::vector<std::string>& flags, const Grammar& grammar) {
  if (flags.empty()) return;
  const std::string& flag = dice.of(flags);
  const auto given = std::find(input.words.begin(), input.words.end(), "--" + flag);
  const bool is_switch = std::find(grammar.switches.begin(), grammar.switches.end(), flag) != grammar.switches.end();
  if (given != input.words.end()) {
    if (is_switch || given + 1 == input.words.end()) input.words.erase(given);
    else *(given + 1) = value_for(dice, flag, input.file);
    return;
  }
  input.words.push_back("--" + flag);
  if (!is_switch) input.words.push_back(value_for(dice, flag, input.file));
}

// A field of the file is replaced, or a row goes, comes twice or changes places.
void change_file(Dice& dice, std::string& file) {
  std::vector<std::string> lines = split(file, '\n');
  if (lines.size() < 2) {
    file = new_file(dice);
    return;
  }
  const size_t at = dice.below(lines.size()), other = 1 + dice.below(lines.size() - 1);
  switch (dice.below(4)) {
    case 0: {
      std::vector<std::string> fields = split(lines[at], ',');
      if (fields.empty()) break;
      const std::vector<std::string> odd{"NA",
                                         "",
                                         "nan",
                                         "inf",
                                         "\"NA\"",
                                         "\"a,b\"",
                                         " 3 ",
                                         "1e-320",
                                         "-0",
                                         "\xef\xbb\xbf"
                                         "y",
                                         "y"};
      std::string& field = fields[dice.below(fields.size())];
      field = dice.one_in(2) ? dice.of(odd) : dice.of(kNumbers);
      lines[at].clear();
      for (size_t i = 0; i < fields.size(); ++i) lines[at] += (i ? "," : "") + fields[i];
      break;
    }
    case 1: lines.erase(lines.begin() + static_cast<ptrdiff_t>(other)); break;
    case 2: lines.push_back(lines[other]); break;
    default: std::swap(lines[other], lines[1]); break;
  }
  file.clear();
  for (const std::string& line : lines) file += line + "\n";
}

}  // namespace

CommandInput CommandInput::parse(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\n');
  CommandInput input;
  for (const std::string& word : split(text.substr(0, end), ' '))
    if (!word.empty()) input.words.push_back(word);
  if (end != std::string::npos) input.file = text.substr(end + 1);
  return input;
}

std::string CommandInput::text() const {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out + "\n" + file;
}

std::string path_of(const std::string& text) {
  static int fd = ::memfd_create("csv", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    std::abort();
  return "/proc/self/fd/" + std::to_string(fd);
}

CommandInput mutate(CommandInput input, const Grammar& grammar, uint64_t seed, const std::function<void(std::string&)>& bytes) {
  Dice dice{Rng(seed)};
  const auto flags = [&] { return grammar.flags(grammar.methods.empty() || input.words.empty() ? "" : input.words[0]); };
  for (size_t changes = 1 + dice.below(4); changes > 0; --changes) {
    switch (dice.below(8)) {
      case 0:
        if (!grammar.methods.empty()) {
          input.words = {dice.of(grammar.methods)};
          for (size_t i = 0; i < 4; ++i) add_flag(dice, input, flags(), grammar);
        }
        break;
      case 1: case 2: case 3: add_flag(dice, input, flags(), grammar); break;
      case 4: input.file = new_file(dice); break;
      case 5: case 6: change_file(dice, input.file); break;
      default: bytes(dice.one_in(3) && !input.words.empty() ? input.words[dice.below(input.words.size())] : input.file); break;
    }
  }
  return input;
}

// ---- judging --------------------------------------------------------------------------------------------

namespace {

struct Judge {
  const CommandInput& input;
  double conf = 0.95;
  bool estimate_inside = true;

  void demand(bool holds, const std::string& what) const {
    if (!holds) fail(input, "a number without meaning: " + what);
  }

  void field(const std::string& key, double value) const {
    const std::string said = key + " = " + std::to_string(value);
    const auto ends = [&](std::string_view end) { return key.ends_with(end); };
    if (key.starts_with("p_") || key == "power" || key == "mauchly_p" || key == "adjusted")
      demand(value >= 0 && value <= 1, said);
    for (const char* square :
         {"variance", "sd", "standard_error", "sum_squares", "mean_square", "mad", "eta_squared", "epsilon", "reml"})
      if (ends(square)) demand(value >= 0, said);
    if (key == "df" || key == "df2" || key == "n" || key == "n_whole" || key == "layouts" || key == "trials")
      demand(value >= 0, said);
    if (ends("eta_squared")) demand(value <= 1 + 1e-9, said);
  }

  void interval(const Json& object, const std::string& low, const std::string& high, const std::string& estimate) const {
    if (!object.contains(low) || !object.contains(high)) return;
    const Json &from = object[low], &to = object[high];
    if (from.is_number() && to.is_number()) demand(from.get<double>() <= to.get<double>(), low + " > " + high);
    if (!estimate_inside || conf < 0.8 || !object.contains(estimate) || !object[estimate].is_number()) return;
    const double at = object[estimate].get<double>();
    const double slack = 1e-9 * std::fabs(at) + 1e-300;
    if (from.is_number()) demand(from.get<double>() <= at + slack, estimate + " lies below " + low);
    if (to.is_number()) demand(to.get<double>() >= at - slack, estimate + " lies above " + high);
  }

  void walk(const std::string& key, const Json& json) const {
    if (json.is_number()) return field(key, json.get<double>());
    if (json.is_array())
      for (const Json& item : json) walk(key, item);
    if (!json.is_object()) return;
    for (const auto& [name, item] : json.items()) walk(name, item);
    for (const char* start : {"", "median_", "geometric_", "robust_", "sd_", "sd_robust_"}) {
      const std::string estimate = std::string(start) == "median_"      ? "median"
                                   : std::string(start) == "geometric_" ? "geometric_mean"
                                                                        : "estimate";
      interval(json, start + std::string("conf_low"), start + std::string("conf_high"),
               std::string(start) == "" || estimate != "estimate" ? estimate : "-");
    }
    const char* order[] = {"min", "q25", "median", "q75", "max"};
    if (json.contains("q25"))
      for (size_t i = 0; i + 1 < 5; ++i)
        demand(json[order[i]].get<double>() <=
                   json[order[i + 1]].get<double>() * (1 + (json[order[i + 1]].get<double>() > 0 ? 1e-12 : -1e-12)),
               "quartiles out of order");
    // Numbers that a contrast or a cell of a report can't be without.
    if (json.contains("verdict") && json.contains("factor") && !json.contains("refused")) {
      for (const char* needed : {"standard_error", "margin", "df", "p_value", "p_holm", "p_equivalence", "p_equivalence_holm"})
        demand(json[needed].is_number(), std::string(needed) + " is not there");
      for (const char* needed : {"interval", "equivalence_interval"})
        for (const char* end : {"estimate", "conf_low", "conf_high"})
          demand(json[needed][end].is_number(), std::string(needed) + "." + end + " is not there");
    }
    // And those of an arm of a causal profile.
    if (json.contains("windows") && json.contains("p_value"))
      for (const char* needed : {"log_effect", "standard_error", "df", "p_value", "p_equivalence"})
        demand(json[needed].is_number(), std::string(needed) + " is not there");
    if (json.contains("geometric_mean") && json.contains("levels"))
      demand(json["mean"].is_number(), "a cell's mean is not there");
  }
};

}  // namespace

void check_output(const CommandInput& input, const commands::CommandOutput& output, bool json) {
  if (output.exit_code != 0) {
    if (output.exit_code != 2) fail(input, "exit code " + std::to_string(output.exit_code));
    if (!output.out.empty() || !output.err.starts_with("error: ") || output.err.size() < 10)
      fail(input, "a refusal without words");
    if (unquoted(output.err).find("beyond what a double holds") != std::string::npos && !holds_far_numbers(input))
      fail(input, "overflow without a large number: " + output.err);
    return;
  }
  if (!output.err.empty() && !tells_how_the_file_was_read(output.err))
    fail(input, "words on the error stream of a success: " + output.err);
  if (!json) return;
  const Json document = Json::parse(output.out, nullptr, false);
  if (document.is_discarded()) fail(input, "no JSON:\n" + output.out);
  Judge judge{input};
  if (document.contains("conf_level") && document["conf_level"].is_number()) judge.conf = document["conf_level"];
  if (document.contains("groups") && document["groups"].is_array() && !document["groups"].empty() &&
      document["groups"][0].contains("conf_level"))
    judge.conf = document["groups"][0]["conf_level"];
  if (document.contains("alpha") && document["alpha"].is_number()) judge.conf = 1 - 2 * document["alpha"].get<double>();
  // BCa corrects the estimate's bias, so that its interval may leave the estimate out.
  judge.estimate_inside = !document.contains("acceleration");
  judge.walk("", document);
}

}  // namespace stab::fuzz
