// The order of the checks is that of what explains most: a crash explains a wrong output, not the other way
// round. Runs after the trial, on the housekeeping CPU.
#include "stabd/expectation.h"

#include <string.h>
#include <unistd.h>

#include <regex>

#include "stabd/sha256.h"

namespace stab::engine {
namespace {

// std::regex recurses for each character of a match; longer outputs are matched line by line.
constexpr size_t kWholeMatchBytes = 64 << 10;

bool matches(const std::string& text, const std::string& pattern) {
  try {
    const std::regex regex(pattern, std::regex::ECMAScript);
    if (text.size() <= kWholeMatchBytes) return std::regex_search(text, regex);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      if (end - at <= kWholeMatchBytes && std::regex_search(text.substr(at, end - at), regex)) return true;
      at = end + 1;
    }
  } catch (const std::regex_error&) {
    return false;  // the plan's parser has compiled it; what is left is "too complex"
  }
  return false;
}

std::string short_hash(const std::string& sha256) { return sha256.substr(0, 12) + "..."; }

std::string file_contradiction(const plan::ExpectedFile& file, const std::string& directory) {
  const auto found = sha256_of_file(directory + "/" + file.path);
  if (!found) return "expected file '" + file.path + "': " + found.error().message;
  if (*found == file.sha256) return {};
  return "file '" + file.path + "' has sha256 " + short_hash(*found) + ", expected " + short_hash(file.sha256);
}

}  // namespace

std::string describe_end(const std::optional<int>& exit_status, const std::optional<int>& signal) {
  if (signal) return "killed by signal " + std::to_string(*signal) + " (" + strsignal(*signal) + ")";
  if (exit_status) return "exit status " + std::to_string(*exit_status);
  return "no exit status";
}

std::string head_of_fd(int fd, size_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(fd, text.data(), bytes, 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::string contradiction(const plan::Expect& expect, const ProcessEnd& end,
                          const std::optional<std::string>& first_stdout_sha256) {
  if (end.exit_status != expect.exit)
    return describe_end(end.exit_status, end.signal) + ", expected exit status " + std::to_string(expect.exit);
  if (expect.stdout_sha256 && *expect.stdout_sha256 != end.stdout_sha256)
    return "stdout has sha256 " + short_hash(end.stdout_sha256) + " (" + std::to_string(end.stdout_bytes) +
           " bytes), expected " + short_hash(*expect.stdout_sha256);
  if (expect.stderr_sha256 && *expect.stderr_sha256 != end.stderr_sha256)
    return "stderr has sha256 " + short_hash(end.stderr_sha256) + " (" + std::to_string(end.stderr_bytes) +
           " bytes), expected " + short_hash(*expect.stderr_sha256);
  if (expect.stdout_regex &&
      !matches(head_of_fd(end.out_fd, static_cast<size_t>(end.stdout_bytes)), *expect.stdout_regex))
    return "stdout does not match '" + *expect.stdout_regex + "'";
  if (expect.same_stdout && first_stdout_sha256 && *first_stdout_sha256 != end.stdout_sha256)
    return "stdout differs from that of the workload's first trial (" + std::to_string(end.stdout_bytes) +
           " bytes), and the plan demands same_stdout";
  for (const plan::ExpectedFile& file : expect.files)
    if (std::string text = file_contradiction(file, end.directory); !text.empty()) return text;
  return {};
}

}  // namespace stab::engine
