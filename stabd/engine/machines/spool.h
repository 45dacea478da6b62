// Spool: the directory through which a controller and its workers talk. It may lie on NFS or Lustre: a file is only ever
// written under a name of its own and then renamed, nobody waits for a lock, and nobody believes that what isn't seen isn't
// there. The only code that touches the directory; workers that share none have a copy of it (connection.h).
//
// What is in a spool is run, and what comes back is believed, so it is ours alone and stays so: nobody else may write into it
// or put another folder in the place of it or of one above it (base/trusted_folder.h). Each machine looks for itself, and what
// was looked at is held and worked in.
//
//   experiment               whose spool it is: the experiment's identity, the version of Stab
//   bundle, binary.SHA256    what a worker needs
//   slot-SSS.epoch-EEEE.*    grant (its blocks), taken, facts, verdict, preflight, log, heartbeat, end; part-NNNNNN.BLOCK.SHA256
//   aside/                   parts that don't count, for whoever wants to know why
//
// Notes, all but bundle, binaries and parts, are text with its SHA-256 as last line: a torn one is as if it weren't there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::engine {

inline constexpr char kSpoolExperiment[] = "experiment", kSpoolBundle[] = "bundle";
// Most notes are a few lines; what a preflight gave is a line a cell, and a grant has the numbers of its blocks. Nothing more is
// read of a note, nor written.
inline constexpr uint64_t kMostNoteBytes = 1 << 20;

// "slot-003.epoch-0002.grant"
std::string slot_file(int slot, int64_t epoch, std::string_view what);

struct SlotFile {
  int slot = 0;
  int64_t epoch = 0;
  std::string what;
};
std::optional<SlotFile> parse_slot_file(std::string_view name);

// "part-000007.12.SHA256": the 8th part of its epoch, block 12.
struct PartFile {
  int number = 0;
  uint32_t block = 0;
  std::string sha256;
};
std::string part_file(const PartFile& part);
std::optional<PartFile> parse_part_file(std::string_view what);

// What changes with a file's content, short of reading it.
struct FileSign {
  uint64_t inode = 0, bytes = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileSign&) const = default;
};

class Spool {
 public:
  // Makes it. kDenied and kUnavailable say what to do about it.
  static Result<Spool> open(const std::string& directory);

  // Under its final name, whole and on disk, or not at all.
  Status put(const std::string& name, std::string_view bytes);
  Status put_copy(const std::string& name, const std::string& path);
  // kBadInput, and nothing is put, where note() would not read it.
  Status put_note(const std::string& name, const std::string& text);
  // None: it is not there, or not whole.
  Result<std::optional<std::string>> note(const std::string& name) const;
  // True for one caller only, whoever tries.
  Result<bool> claim(const std::string& name, const std::string& text);
  // Of all files that are whole by their name alone.
  Result<std::vector<std::string>> names() const;
  bool has(const std::string& name) const;
  std::optional<FileSign> sign_of(const std::string& name) const;  // none: it is not there
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }
  const std::string& directory() const { return directory_; }
  Status remove(const std::string& name);
  Status set_aside(const std::string& name);

  // Told of what was put, with its path.
  using Listener = std::function<void(const std::string& name, const std::string& path)>;
  void listen(Listener listener) { listener_ = std::move(listener); }

 private:
  Spool(std::string directory, UniqueFd folder)
      : directory_(std::move(directory)), folder_(std::make_shared<const UniqueFd>(std::move(folder))) {}
  int folder() const { return folder_->get(); }
  Status finish(const std::string& part, const std::string& name, Status written);
  Status write_new(const std::string& part, std::string_view bytes) const;
  std::string directory_;
  std::shared_ptr<const UniqueFd> folder_;  // it, open
  Listener listener_;
};

std::string sealed(const std::string& text);
std::optional<std::string> unsealed(std::string_view bytes);

}  // namespace stab::engine
