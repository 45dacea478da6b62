// The order of the checks is that of what explains most: a crash explains a wrong output, not the other way
// round. Runs after the trial, on the housekeeping CPU.
#include "stabd/engine/trial/expectation.h"

#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

std::string short_hash(const std::string& sha256) { return sha256.substr(0, 12) + "..."; }

// "0", "0 or 1", "0, 1 or 3"
std::string alternatives(const std::vector<int>& statuses) {
  std::string out;
  for (size_t i = 0; i < statuses.size(); ++i)
    out += (i == 0 ? "" : i + 1 == statuses.size() ? " or " : ", ") + std::to_string(statuses[i]);
  return out;
}

// More than most programs print; hashing it takes as long as asking for it.
constexpr int64_t kHashedHere = 1 << 20;

Error no_worker() { return Error{ErrorCode::kInternal, "a trial's output is to be read, and there is no worker", {}}; }

Result<std::string> pattern_contradiction(const std::string& pattern, const ProcessEnd& end, Worker* worker) {
  const uint64_t bytes = static_cast<uint64_t>(end.stdout_bytes);
  if (bytes > kMostMatchedBytes)
    return "stdout has " + std::to_string(bytes) + " bytes, and stdout_regex looks at 1 GiB at most; use stdout_sha256";
  if (worker == nullptr) return no_worker();
  const auto found = worker->ask(worker::Match{pattern, bytes}, end.out_fd);
  if (!found) return found.error();
  return found->matches ? std::string() : "stdout does not match '" + pattern + "'";
}

Result<std::string> file_contradiction(const std::vector<plan::ExpectedFile>& files, const std::string& directory,
                                       Worker* worker) {
  if (worker == nullptr) return no_worker();
  worker::CheckFiles check{directory, {}, kMostExpectedBytes};
  for (const plan::ExpectedFile& file : files) check.files.push_back({file.path, file.sha256});
  const auto found = worker->ask(check);
  if (!found) return found.error();
  if (!found->differs) return std::string();
  if (found->index >= files.size() || !worker::is_sha256(found->sha256))
    return Error{ErrorCode::kSystem, "the worker says that a file differs that it was not asked for", {}};
  const plan::ExpectedFile& file = files[found->index];
  return "file '" + file.path + "' has sha256 " + short_hash(found->sha256) + ", expected " + short_hash(file.sha256);
}

// What the worker says of the trial's files contradicts; what became of the worker doesn't.
Result<std::string> in_words(Result<std::string> found) {
  if (found || says_nothing(found.error())) return found;
  return found.error().message;
}

}  // namespace

Result<std::string> hash_of_output(int fd, int64_t bytes, Worker* worker) {
  if (bytes <= kHashedHere) return worker::sha256_of_fd(fd, static_cast<uint64_t>(bytes));
  if (worker == nullptr) return no_worker();
  STAB_TRY(worker::Hash::Answer answer, worker->ask(worker::HashOutput{static_cast<uint64_t>(bytes)}, fd));
  if (worker::is_sha256(answer.sha256)) return std::move(answer.sha256);
  return Error{ErrorCode::kSystem, "stab-worker returned something that is not a SHA-256 hash of the output", {}};
}

Result<std::string> contradiction(const plan::Expect& expect, const ProcessEnd& end,
                                  const std::optional<std::string>& first_stdout_sha256, Worker* worker) {
  if (!end.exit_status || std::find(expect.exit.begin(), expect.exit.end(), *end.exit_status) == expect.exit.end())
    return describe_end(end.exit_status, end.signal) + ", expected exit status " + alternatives(expect.exit);
  if (expect.stdout_sha256 && *expect.stdout_sha256 != end.stdout_sha256)
    return "stdout has sha256 " + short_hash(end.stdout_sha256) + " (" + std::to_string(end.stdout_bytes) +
           " bytes), expected " + short_hash(*expect.stdout_sha256);
  if (expect.stderr_sha256 && *expect.stderr_sha256 != end.stderr_sha256)
    return "stderr has sha256 " + short_hash(end.stderr_sha256) + " (" + std::to_string(end.stderr_bytes) +
           " bytes), expected " + short_hash(*expect.stderr_sha256);
  if (expect.stdout_regex) {
    STAB_TRY(std::string text, in_words(pattern_contradiction(*expect.stdout_regex, end, worker)));
    if (!text.empty()) return text;
  }
  if (expect.same_stdout && first_stdout_sha256 && *first_stdout_sha256 != end.stdout_sha256)
    return "stdout differs from that of the workload's first trial (" + std::to_string(end.stdout_bytes) +
           " bytes), and the plan demands same_stdout";
  if (expect.files.empty()) return std::string();
  return in_words(file_contradiction(expect.files, end.directory, worker));
}

}  // namespace stab::engine
