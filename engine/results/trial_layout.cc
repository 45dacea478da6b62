// Of a trial are stored its seed, its dose report, which says what it ran with and where, and, where the plan asks for it, which
// image and which pads were in place in each epoch. stab-layout draws these again. Its answer and the dose both name the hash
// of the code: if they differ, this is another binary than the one that ran.
#include "engine/results/trial_layout.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/trial/epoch_series.h"
#include "runtime/stab_abi.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

// What a dose report says of where things were.
struct Ran {
  std::string code = "off", stack = "off";
  uint64_t seed = 0, range = 0;
  std::string text_hash;  // empty: code stayed
  std::string script_hash;  // empty: there was no layout script
  uint64_t text_address = 0, ring_address = 0, slot_bytes = 0;
  int64_t layouts = 0, refills = 0;
};

template <typename T>
T number(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_unsigned() ? at->get<T>() : T{};
}

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

Result<Ran> read_dose(const std::string& text) {
  const Error corrupt{ErrorCode::kCorrupt, "the dose report of this trial can't be read", {}};
  const Json dose = Json::parse(text, nullptr, false);
  if (!dose.is_object()) return corrupt;
  if (!dose.value("hello", true))
    return bad_input("the program of this trial never asked for a helper, so nothing of it moved");
  Ran ran;
  const Json settings = dose.value("settings", Json::object()), code = dose.value("code", Json::object());
  if (!settings.is_object() || !code.is_object()) return corrupt;
  const auto word = [](const Json& object, const char* key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  ran.code = word(settings, "code");
  ran.stack = word(settings, "stack");
  const std::string seed = word(settings, "seed");
  if (!is_word(ran.code) || !is_word(ran.stack) || !seed.starts_with("0x") ||
      std::from_chars(seed.data() + 2, seed.data() + seed.size(), ran.seed, 16).ptr != seed.data() + seed.size())
    return corrupt;
  ran.range = number<uint64_t>(settings, "stack_range_bytes");
  ran.text_hash = word(code, "text_hash");
  if (const auto script = code.find("script"); script != code.end() && script->is_object())
    ran.script_hash = word(*script, "hash");
  ran.text_address = number<uint64_t>(code, "text_address");
  ran.ring_address = number<uint64_t>(code, "ring_address");
  ran.slot_bytes = number<uint64_t>(code, "slot_bytes");
  ran.layouts = number<int64_t>(code, "layouts_built");
  if (const auto stack = dose.find("stack"); stack != dose.end() && stack->is_object())
    ran.refills = number<int64_t>(*stack, "refills");
  return ran;
}

constexpr int kScriptThere = 3;  // its descriptor in stab-layout

// Standard output of a command that ends well; `script` is open there as kScriptThere, if there is one.
Result<std::string> output_of(const std::vector<std::string>& words, const UniqueFd& script) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2", errno);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  if (script) ::posix_spawn_file_actions_adddup2(&actions, script.get(), kScriptThere);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char* envp[] = {nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, words[0].c_str(), &actions, nullptr, argv.data(), envp);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return system_error("start '" + words[0] + "'", failed);
  write_end.reset();
  std::string out;
  std::array<char, 65536> buffer;
  for (ssize_t got; (got = ::read(read_end.get(), buffer.data(), buffer.size())) != 0;) {
    if (got > 0) out.append(buffer.data(), static_cast<size_t>(got));
    else if (errno != EINTR) break;
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{ErrorCode::kSystem, "'" + words[0] + "' failed and says why on standard error", {}};
  return out;
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    const size_t end = text.find(by, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

template <typename T>
bool take(std::string_view text, int base, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

// Which layout was in place, and in which slot of the ring.
struct Chosen {
  uint32_t epoch = 1;
  uint32_t image = helper::kNoImage, refill = helper::kNoImage;
  uint64_t slot = 0;
  std::string script;
};

Result<Chosen> choose(store::Store& store, store::Id trial, std::optional<uint32_t> epoch, const Ran& ran) {
  STAB_TRY(const std::string stored, store.epochs(trial));
  Chosen chosen;
  chosen.epoch = epoch.value_or(1);
  const EpochSeries none;
  const Result<EpochSeries> decoded = stored.empty() ? Result<EpochSeries>(none) : decode_epochs(stored);
  if (!decoded) return decoded.error();
  const EpochSeries& series = *decoded;
  chosen.script = series.script;
  if (series.records.empty()) {
    if (chosen.epoch != 1)
      return bad_input("the epochs of trial " + std::to_string(trial) + " were not kept, so only its first layout is known; " +
                       "write record_epochs = true under [experiment]");
    if (ran.layouts > 0) chosen.image = 0;
    if (ran.refills > 0) chosen.refill = 0;
    return chosen;
  }
  uint32_t first = 0, last = 0;
  for (const helper::EpochRecord& record : series.records) {
    if ((record.flags & helper::kEpochEnd) != 0) continue;
    if (first == 0) first = record.epoch;
    last = record.epoch;
    if (record.epoch != chosen.epoch) continue;
    chosen.image = record.image;
    chosen.refill = record.refill;
    chosen.slot = record.slot;
    return chosen;
  }
  return Error{ErrorCode::kNotFound,
               "trial " + std::to_string(trial) + " has no epoch " + std::to_string(chosen.epoch) + "; it has " +
                   std::to_string(first) + " to " + std::to_string(last),
               {}};
}

// The script that a trial has followed, as a file.
Result<UniqueFd> script_of(const std::string& text, const std::string& hash) {
  std::array<char, 24> own{};
  std::snprintf(own.data(), own.size(), "0x%llx", static_cast<unsigned long long>(abi::hash64(text.data(), text.size())));
  if (hash != own.data())
    return Error{ErrorCode::kCorrupt,
                 "the layout script of this trial is not the one that it followed, by the hash in its dose",
                 {}};
  // Above the number that it has in the tool.
  UniqueFd low(::memfd_create("stab-script", MFD_CLOEXEC));
  UniqueFd file(low ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, kScriptThere + 1) : -1);
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("write the layout script", errno);
  return file;
}

Result<std::string> find_binary(store::Store& store, const store::TrialRow& trial, const Archive& archive, bool is_checked) {
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(trial.experiment));
  for (const store::BuildRow& build : builds) {
    if (build.index != trial.build) continue;
    const Result<std::string> kept = archive.find(build.binary_sha256);
    if (kept) return *kept;
    // What is at the old place may be another one; only the hash of its code tells.
    if (is_checked && ::access(build.binary_path.c_str(), R_OK) == 0) return build.binary_path;
    return Error{kept.error().code, "the binary of trial " + std::to_string(trial.id) + ": " + kept.error().message, {}};
  }
  return Error{ErrorCode::kNotFound, "trial " + std::to_string(trial.id) + " has no build", {}};
}

}  // namespace

Result<TrialLayout> layout_of(store::Store& store, store::Id id, std::optional<uint32_t> epoch, const std::string& tool,
                              const Archive& archive) {
  STAB_TRY(const store::TrialRow trial, store.trial(id));
  STAB_TRY(const store::Outcome outcome, store.outcome(id));
  if (outcome.dose_json.empty())
    return bad_input("trial " + std::to_string(id) + " has no dose report: it had no helper, and nothing of it moved");
  STAB_TRY(const Ran ran, read_dose(outcome.dose_json));
  STAB_TRY(const Chosen chosen, choose(store, id, epoch, ran));
  TrialLayout out;
  STAB_TRY(out.binary, find_binary(store, trial, archive, !ran.text_hash.empty()));
  out.epoch = chosen.epoch;
  out.code = ran.code;
  out.stack = ran.stack;
  out.seed = ran.seed;
  std::vector<std::string> words = {tool, out.binary, "--code", ran.code, "--stack", ran.stack, "--range",
                                    std::to_string(ran.range), "--seed", std::to_string(ran.seed)};
  const auto ask = [&words](const char* option, uint32_t which, std::optional<uint32_t>& said) {
    if (which == helper::kNoImage) return;
    said = which;
    words.insert(words.end(), {option, std::to_string(which)});
  };
  ask("--image", chosen.image, out.image);
  ask("--refill", chosen.refill, out.refill);
  UniqueFd script;
  if (!ran.script_hash.empty()) {
    STAB_TRY(script, script_of(chosen.script, ran.script_hash));
    words.insert(words.begin() + 2, {"--script", "/proc/self/fd/" + std::to_string(kScriptThere)});
  }
  STAB_TRY(const std::string text, output_of(words, script));

  const Error strange{ErrorCode::kCorrupt, "'" + tool + "' is of another version", {}};
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.empty() || !lines.back().empty()) return strange;
  lines.pop_back();
  uint64_t slot_bytes = 0, text_start = 0;
  const std::vector<std::string_view> head = lines.empty() ? std::vector<std::string_view>() : split(lines[0], ' ');
  if (head.size() != 6 || head[0] != "stab-layout" || head[1] != "1" || !take(head[3], 10, slot_bytes) ||
      !take(head[5], 16, text_start))
    return strange;
  if (!ran.text_hash.empty() && (ran.text_hash != head[2] || ran.slot_bytes != slot_bytes))
    return Error{ErrorCode::kCorrupt,
                 "'" + out.binary + "' is not what trial " + std::to_string(id) + " ran: its code has hash " +
                     std::string(head[2]) + ", the trial's " + ran.text_hash,
                 {}};
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> fields = split(lines[i], '\t');
    PlacedFunction function;
    uint32_t offset = 0, pad = 0;
    if (fields.size() != 5 || !take(fields[0], 16, function.linked) || !take(fields[1], 10, function.bytes)) return strange;
    function.moved = fields[2] != "-";
    if (function.moved && !take(fields[2], 10, offset)) return strange;
    if (fields[3] != "-") {
      if (!take(fields[3], 10, pad)) return strange;
      function.pad = pad;
    }
    if (function.moved) function.address = ran.ring_address + chosen.slot * ran.slot_bytes + offset;
    else if (ran.text_address != 0) function.address = ran.text_address + (function.linked - text_start);
    function.name = fields[4];
    out.functions.push_back(std::move(function));
  }
  return out;
}

}  // namespace stab::engine
