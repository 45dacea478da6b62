// A question to a part of ours that reads a submitter's files: stab-lines and stab-layout. It runs as the submitter, confines
// itself before it reads, and what it answers is a stranger's all the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "stabd/engine/separation/engine_options.h"
#include "stabd/engine/separation/own_process.h"
#include "stabd/host/launch.h"

namespace stab::engine {

// Who starts it, as whom, and what ends it.
struct ReaderSetting {
  StartProcess start;
  std::optional<host::Submitter> submitter;  // none: as whoever asks
  int cancel_fd = -1;                  // readable: give up. -1: none
  const Clock* clock = nullptr;
};
// For files of this user's, in no tree.
ReaderSetting reader_setting(const EngineOptions& options, uid_t uid, gid_t gid, int cancel_fd);

struct FileQuestion {
  std::vector<std::string> words;  // the program's path and its arguments
  int in = -1;                     // standard input
  int beside = -1;                 // open there as kBesideFd; -1: nothing
  std::chrono::milliseconds timeout{0};
  uint64_t most_bytes = 0;         // of the answer
};
inline constexpr int kBesideFd = 193;

enum class AnswerEnd { kWell, kRefused, kTooLong, kTooLate };

struct FileAnswer {
  AnswerEnd end = AnswerEnd::kWell;
  std::string bytes;  // of standard output, where it ended well
  std::string why;    // else in words, with what it said on standard error, printable
};
// An Error says nothing about the files: kBusy: cancelled, or it can't be ended; kNotFound: the program is not there.
Result<FileAnswer> ask_about_files(const ReaderSetting& setting, const FileQuestion& question);

}  // namespace stab::engine
