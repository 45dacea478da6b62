// stab-layout is ours, and what it reads is a submitter's. A binary of the archive is opened here and handed to it, since its
// user need not be able to; one at a build's old place it opens itself, as its user could.
#include "stabd/engine/results/layout_tool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/line_ends.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "base/split.h"
#include "runtime/code/moved_library.h"
#include "runtime/code_abi.h"
#include "stabd/engine/build/gate_open.h"
#include "stabd/engine/separation/submitter.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

template <typename T>
T number(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_unsigned() ? at->get<T>() : T{};
}

std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// How many functions and epochs there are the measured program decides.
constexpr uint64_t kMostOutputBytes = uint64_t{256} << 20;
// Five times as many as clang has.
constexpr size_t kMostFunctions = 1 << 20;
// What stab-layout allows itself of CPU time, and a little.
constexpr std::chrono::seconds kTimeout{330};

// The question's last words so far name a layout script, with its match table if it has one, which is to stay open.
Result<UniqueFd> give_script(const std::string& text, FileQuestion& question) {
  UniqueFd file(::memfd_create("stab-script", MFD_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("write the layout script", errno);
  question.words.insert(question.words.end(), {"--script", "/proc/self/fd/" + std::to_string(kBesideFd)});
  question.beside = file.get();
  return file;
}

// Whether it is the script that a trial has followed.
Status check_script(const std::string& text, const std::string& hash) {
  const size_t bytes = std::min(text.find('\0'), text.size());  // what is behind it has a hash of its own in it
  if (hash == hex_text(abi::hash64(text.data(), bytes))) return {};
  return Error{
      ErrorCode::kCorrupt, "the layout script of this trial is not the one that it followed, by the hash in its layout report",
      {}};
}

Error no_time(const std::string& why) {
  return {ErrorCode::kUnavailable,
          why + "; look at fewer functions with only = [...] below [layout], or at fewer trials or epochs", {}};
}

}  // namespace

namespace {

// A report is the program's user's. What can't be so is left out, and so is what goes beyond the most that move at a time: each
// costs a look at its file.
std::vector<MovedFile> read_libraries(const Json& dose) {
  std::vector<MovedFile> out;
  const auto all = dose.find("libraries");
  if (all == dose.end() || !all->is_array()) return out;
  for (const Json& one : *all) {
    if (out.size() == code::kMaxLibraries) break;
    if (!one.is_object()) continue;
    const std::string path = text_of(one, "path"), drawn_by = text_of(one, "drawn_by");
    MovedFile file{!has_control(path) && path.starts_with('/') ? path : "",
                   text_of(one, "text_hash"),
                   0,
                   number<uint64_t>(one, "text_address"),
                   number<uint64_t>(one, "ring_address"),
                   number<uint64_t>(one, "slot_bytes"),
                   number<uint32_t>(one, "first_image")};
    if (!drawn_by.starts_with("0x") || !take(std::string_view(drawn_by).substr(2), 16, file.drawn_by)) continue;
    if (file.drawn_by == 0) continue;
    out.push_back(std::move(file));
  }
  return out;
}

}  // namespace

Result<Ran> read_dose(const std::string& text) {
  const Error corrupt{ErrorCode::kCorrupt, "the layout report of this trial can't be read", {}};
  const Json dose = Json::parse(text, nullptr, false);
  if (!dose.is_object()) return corrupt;
  if (!dose.value("hello", true))
    return bad_input("the program of this trial never asked for a helper, so nothing of it moved");
  Ran ran;
  const Json settings = dose.value("settings", Json::object()), code = dose.value("code", Json::object());
  if (!settings.is_object() || !code.is_object()) return corrupt;
  ran.code = text_of(settings, "code");
  ran.stack = text_of(settings, "stack");
  const std::string seed = text_of(settings, "seed");
  if (!is_word(ran.code) || !is_word(ran.stack) || !seed.starts_with("0x") ||
      std::from_chars(seed.data() + 2, seed.data() + seed.size(), ran.seed, 16).ptr != seed.data() + seed.size())
    return corrupt;
  ran.range = number<uint64_t>(settings, "stack_range_bytes");
  ran.text_hash = text_of(code, "text_hash");
  if (const auto script = code.find("script"); script != code.end() && script->is_object())
    ran.script_hash = text_of(*script, "hash");
  ran.text_address = number<uint64_t>(code, "text_address");
  ran.ring_address = number<uint64_t>(code, "ring_address");
  ran.slot_bytes = number<uint64_t>(code, "slot_bytes");
  ran.layouts = number<int64_t>(code, "layouts_built");
  ran.libraries_moved = number<int64_t>(code, "libraries_moved");
  if (const auto stack = dose.find("stack"); stack != dose.end() && stack->is_object())
    ran.refills = number<int64_t>(*stack, "refills");
  ran.libraries = read_libraries(dose);
  return ran;
}

std::optional<LayoutHead> read_head(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ' ');
  LayoutHead out;
  if (fields.size() < 6 || fields[0] != "stab-layout" || fields[1] != "1" || !take(fields[3], 10, out.slot_bytes) ||
      !take(fields[5], 16, out.text_start))
    return std::nullopt;
  out.text_hash = fields[2];
  if (fields.size() > 6) out.library = line.substr(static_cast<size_t>(fields[6].data() - line.data()));
  return out;
}

std::vector<std::string> words_for_library(const Ran& ran, uint64_t drawn_by) {
  return {"--library", hex_text(drawn_by), "--code", ran.code, "--stack", "off",
          "--range", std::to_string(ran.range), "--seed", std::to_string(ran.seed)};
}

LayoutTool layout_tool(const EngineOptions& options, const store::ExperimentRow& row, Gate& gate, int cancel_fd) {
  return {options.installation.layout,
          reader_setting(options, static_cast<uid_t>(row.submitter_uid), static_cast<gid_t>(row.submitter_gid), cancel_fd), &gate,
          options.clock->monotonic_raw() + kLayoutsOfAnExperiment};
}

LayoutTool layout_tool(const host::Installation& installation, const store::ExperimentRow& row) {
  static const SystemClock clock;
  LayoutTool tool{installation.layout, {}, nullptr, {}};
  tool.reader.start = started_here(installation.launcher);
  tool.reader.submitter = submitter_of(static_cast<uid_t>(row.submitter_uid), static_cast<gid_t>(row.submitter_gid));
  tool.reader.clock = &clock;
  return tool;
}

Result<std::string> LayoutTool::output(const BinaryFile& binary, const std::vector<std::string>& words, const Ran& ran,
                                       const std::string& script) const {
  FileQuestion question;
  question.words = {path, binary.is_kept ? "-" : binary.path};
  UniqueFd beside;
  if (!ran.script_hash.empty()) {
    STAB_CHECK_OK(check_script(script, ran.script_hash));
    STAB_TRY(beside, give_script(script, question));
  }
  question.words.insert(question.words.end(), words.begin(), words.end());
  return ask(binary, std::move(question));
}

Result<std::string> LayoutTool::match(const BinaryFile& binary) const {
  FileQuestion question;
  question.words = {path, "--match", binary.is_kept ? "-" : binary.path};
  return ask(binary, std::move(question));
}

Result<std::string> LayoutTool::bodies(const BinaryFile& binary, const std::string& script) const {
  FileQuestion question;
  question.words = {path, "--bodies", binary.is_kept ? "-" : binary.path};
  UniqueFd beside;
  if (!script.empty()) {
    STAB_TRY(beside, give_script(script, question));
  }
  return ask(binary, std::move(question));
}

Result<std::string> LayoutTool::ask(const BinaryFile& binary, FileQuestion question) const {
  question.most_bytes = kMostOutputBytes;
  question.timeout = kTimeout;
  if (until.count() > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - reader.clock->monotonic_raw());
    if (left.count() <= 0)
      return no_time("to compute its layouts again takes more than the " + std::to_string(kLayoutsOfAnExperiment.count()) +
                     " min that an experiment has for it");
    question.timeout = std::min(question.timeout, left);
  }
  const char* const input = binary.is_kept ? binary.path.c_str() : "/dev/null";
  const UniqueFd in(::open(input, O_RDONLY | O_CLOEXEC));
  if (!in) return system_error(std::string("open '") + input + "'", errno);
  question.in = in.get();
  STAB_TRY(const FileAnswer answer, [&] {
    if (gate == nullptr) return ask_about_files(reader, question);
    const GateOpen open(*gate);
    return ask_about_files(reader, question);
  }());
  switch (answer.end) {
    case AnswerEnd::kWell: return answer.bytes;
    case AnswerEnd::kTooLong: case AnswerEnd::kTooLate: return no_time(answer.why);
    case AnswerEnd::kRefused: break;
  }
  // It goes on behind that, on one line.
  return Error{ErrorCode::kCorrupt,
               "the layouts of '" + binary.path + "' can't be computed again: " + without_line_ends(answer.why),
               {}};
}

Result<std::vector<std::string_view>> lines_of_functions(std::string_view text) {
  if (static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) > kMostFunctions + 1)
    return Error{ErrorCode::kUnavailable,
                 "the binary has more than " + std::to_string(kMostFunctions) +
                     " functions; map a program with fewer, or build most of it without stab",
                 {}};
  return split(text, '\n');
}

Result<BinaryFile> find_binary(store::Store& store, const store::TrialRow& trial, const Archive& archive, bool is_checked) {
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(trial.experiment));
  for (const store::BuildRow& build : builds) {
    if (build.index != trial.build) continue;
    const Result<std::string> kept = archive.find(build.binary_sha256);
    if (kept) return BinaryFile{*kept, true};
    // What is at the old place may be another one; only the hash of its code tells.
    if (is_checked && ::access(build.binary_path.c_str(), R_OK) == 0) return BinaryFile{build.binary_path, false};
    return Error{kept.error().code, "the binary of trial " + std::to_string(trial.id) + ": " + kept.error().message, {}};
  }
  return Error{ErrorCode::kNotFound, "trial " + std::to_string(trial.id) + " has no build", {}};
}

}  // namespace stab::engine
