// A helper runs as its program's user, so its word is a stranger's: each wait has an end, and each part its bound.
#include "stabd/engine/separation/helper_report.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/helper/epoch_record.h"

namespace stab::engine {
namespace {

// A report is some KiB, and then come the epochs, 28 MiB at most, and samples by function; more than this is not one of ours.
constexpr size_t kReportBytes = 64u << 20;

// How many bytes the part at the front of `rest` says that it has; absent where it is none or cut off in its header.
std::optional<uint64_t> part_bytes(std::string_view rest) {
  if (helper::EpochHeader header; rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    if (std::memcmp(header.magic, helper::kEpochMagic, sizeof header.magic) == 0)
      return sizeof header + uint64_t{header.count} * sizeof(helper::EpochRecord);
  }
  if (helper::SampleHeader header; rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    if (std::memcmp(header.magic, helper::kSampleMagic, sizeof header.magic) == 0)
      return sizeof header + uint64_t{header.count} * sizeof(helper::FunctionSamples) +
             uint64_t{header.stayed_count} * sizeof(helper::StayedFunction);
  }
  if (helper::LibraryHeader header; rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    if (std::memcmp(header.magic, helper::kLibraryMagic, sizeof header.magic) == 0)
      return sizeof header + uint64_t{header.count} * sizeof(helper::LibraryFunction) + header.name_bytes;
  }
  return {};
}

// Whether what follows a report was written to its end. What they say is looked at by whoever needs them.
bool is_whole(std::string_view rest) {
  while (!rest.empty()) {
    const std::optional<uint64_t> bytes = part_bytes(rest);
    if (!bytes || *bytes > rest.size()) return false;
    rest.remove_prefix(*bytes);
  }
  return true;
}

// Cuts off the frames in front, and returns the last of them. What isn't whole yet stays.
std::optional<helper::ProgressFrame> take_frames(std::string& said) {
  std::optional<helper::ProgressFrame> latest;
  size_t taken = 0;
  for (helper::ProgressFrame frame; said.size() - taken >= sizeof frame; taken += sizeof frame) {
    std::memcpy(&frame, said.data() + taken, sizeof frame);
    if (std::memcmp(frame.magic, helper::kProgressMagic, sizeof frame.magic) != 0) break;
    latest = frame;
  }
  said.erase(0, taken);
  return latest;
}

// The helper runs as the program's user, so its word is bounded like a stranger's.
std::vector<PointVisits> points_of(const helper::ProgressFrame& frame) {
  std::vector<PointVisits> points;
  for (uint32_t i = 0; i < std::min(frame.count, helper::kEpochPoints); ++i) {
    PointVisits point{std::string(frame.points[i], ::strnlen(frame.points[i], sizeof frame.points[i])), frame.visits[i]};
    for (char& letter : point.name)
      if (letter < ' ' || letter > '~') letter = '?';
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

std::optional<std::vector<PointVisits>> HelperReport::progress() {
  std::array<char, 16 * sizeof(helper::ProgressFrame)> buffer;
  pollfd waiting{pipe_.get(), POLLIN, 0};
  if (said_.size() > buffer.size() || ::poll(&waiting, 1, 0) != 1 || (waiting.revents & POLLIN) == 0) return {};
  const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
  if (got > 0) said_.append(buffer.data(), static_cast<size_t>(got));
  const std::optional<helper::ProgressFrame> latest = take_frames(said_);
  if (!latest) return {};
  return points_of(*latest);
}

Result<HelperEnd> HelperReport::finish(std::chrono::milliseconds patience, const std::function<int()>& end) {
  HelperEnd ended;
  std::string& text = ended.report;
  text = std::exchange(said_, {});
  std::array<char, 16384> buffer;
  pollfd waiting{pipe_.get(), POLLIN, 0};
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    const auto left = std::clamp(3 * patience - passed, std::chrono::milliseconds(0), patience);
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 || left.count() == 0) {  // stopped, by somebody or for want of memory; or it goes on and on
      ended.given_up = passed + left;
      ended.report.clear();
      end();
      return ended;
    }
    if (ready < 0) return system_error("wait for the layout report", errno);
    const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read the layout report", errno);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kReportBytes) return Error{ErrorCode::kCorrupt, "the layout report is longer than 64 MiB", {}};
  }
  // It closes the report last; what is left of it is its exit. Where it has died before, our signal changes nothing.
  const int status = end();
  (void)take_frames(text);
  if (const size_t line = text.find('\n'); line != std::string::npos && is_whole(std::string_view(text).substr(line + 1))) {
    ended.epochs = text.substr(line + 1);
    text.resize(line + 1);
    return ended;
  }
  if (!WIFSIGNALED(status))
    return Error{ErrorCode::kSystem,
                 "the helper ended with exit status " + std::to_string(WEXITSTATUS(status)) +
                     " and says why on its standard error",
                 {}};
  ended.signal = WTERMSIG(status);
  return ended;
}

}  // namespace stab::engine
