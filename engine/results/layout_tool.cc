// stab-layout is ours and does what it is asked, or fails and says why on standard error.
#include "engine/results/layout_tool.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "engine/experiment/gate_open.h"

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
  ran.text_address = number<uint64_t>(code, "text_address");
  ran.ring_address = number<uint64_t>(code, "ring_address");
  ran.slot_bytes = number<uint64_t>(code, "slot_bytes");
  ran.layouts = number<int64_t>(code, "layouts_built");
  if (const auto stack = dose.find("stack"); stack != dose.end() && stack->is_object())
    ran.refills = number<int64_t>(*stack, "refills");
  return ran;
}

Result<std::string> output_of(const std::vector<std::string>& words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2", errno);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
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

Result<std::string> LayoutTool::output(const std::vector<std::string>& words) const {
  if (gate == nullptr) return output_of(words);
  const GateOpen open(*gate);
  return output_of(words);
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
