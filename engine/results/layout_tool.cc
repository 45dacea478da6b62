// stab-layout is ours and does what it is asked, or fails and says why on standard error.
#include "engine/results/layout_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/experiment/gate_open.h"
#include "runtime/stab_abi.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

template <typename T>
T number(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_unsigned() ? at->get<T>() : T{};
}

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

constexpr int kScriptThere = 3;  // its descriptor in stab-layout
// How many functions and epochs there are the measured program decides.
constexpr size_t kMostOutputBytes = size_t{256} << 20;

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
  bool is_too_long = false;
  for (ssize_t got; (got = ::read(read_end.get(), buffer.data(), buffer.size())) != 0;) {
    is_too_long = got > 0 && out.size() + static_cast<size_t>(got) > kMostOutputBytes;
    if (is_too_long) break;
    if (got > 0) out.append(buffer.data(), static_cast<size_t>(got));
    else if (errno != EINTR) break;
  }
  if (is_too_long) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_too_long)
    return Error{ErrorCode::kUnavailable,
                 "the places of a trial's functions take more than " + std::to_string(kMostOutputBytes >> 20) +
                     " MiB; look at fewer functions with only = [...] below [layout], or at fewer epochs",
                 {}};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{ErrorCode::kSystem, "'" + words[0] + "' failed and says why on standard error", {}};
  return out;
}

// The script that a trial has followed, as a file.
Result<UniqueFd> script_of(const std::string& text, const std::string& hash) {
  std::array<char, 24> own{};
  std::snprintf(own.data(), own.size(), "0x%llx", static_cast<unsigned long long>(abi::hash64(text.data(), text.size())));
  if (hash != own.data())
    return Error{
        ErrorCode::kCorrupt, "the layout script of this trial is not the one that it followed, by the hash in its dose", {}};
  // Above the number that it has in the tool.
  UniqueFd low(::memfd_create("stab-script", MFD_CLOEXEC));
  UniqueFd file(low ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, kScriptThere + 1) : -1);
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("write the layout script", errno);
  return file;
}

}  // namespace

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

Result<std::string> LayoutTool::output(std::vector<std::string> words, const Ran& ran, const std::string& script) const {
  UniqueFd file;
  if (!ran.script_hash.empty()) {
    STAB_TRY(file, script_of(script, ran.script_hash));
    words.insert(words.begin() + 2, {"--script", "/proc/self/fd/" + std::to_string(kScriptThere)});
  }
  if (gate == nullptr) return output_of(words, file);
  const GateOpen open(*gate);
  return output_of(words, file);
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

}  // namespace stab::engine
