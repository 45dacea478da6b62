// What a computation of layouts starts from: what a trial ran with, its binary, and stab-layout, which draws them again.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/build/store_gate.h"
#include "stabd/engine/separation/engine_options.h"
#include "stabd/engine/separation/file_reader.h"
#include "store/store.h"

namespace stab::engine {

// A shared library that a trial has moved, as it lay when it was loaded last.
struct MovedFile {
  std::string path;  // empty: not known
  std::string text_hash;
  uint64_t drawn_by = 0;  // what its layouts are drawn by, with seed and image
  uint64_t text_address = 0, ring_address = 0, slot_bytes = 0;
  uint32_t first_image = 0;  // number of the image in place when it came
};

// What a dose report says of where things were.
struct Ran {
  std::string code = "off", stack = "off";
  uint64_t seed = 0, range = 0;
  std::string text_hash;    // empty: code stayed
  std::string script_hash;  // empty: there was no layout script
  uint64_t text_address = 0, ring_address = 0, slot_bytes = 0;
  int64_t layouts = 0, refills = 0;
  int64_t libraries_moved = 0;  // shared libraries whose code did, each time that one was loaded
  std::vector<MovedFile> libraries;
};
Result<Ran> read_dose(const std::string& text);

struct BinaryFile {
  std::string path;
  bool is_kept = false;  // in the archive, which is ours
};
// The executable that a trial ran. `is_checked`: whoever reads it holds the hash of its code against the trial's, so that the
// file at the build's old place will do.
Result<BinaryFile> find_binary(store::Store& store, const store::TrialRow& trial, const Archive& archive, bool is_checked);

// stab-layout, where it is, as whom it is started, and the gate that is opened while it works; null: nobody else uses the store.
struct LayoutTool {
  std::string path;
  ReaderSetting reader;
  Gate* gate = nullptr;
  std::chrono::nanoseconds until{0};  // on the reader's raw clock: no question is answered later. 0: each has its own time alone
  // What it prints for a trial; `words`: the rest of its command, `script`: what the trial has kept as its layout script, with
  // its match table if it has one (script_with_table).
  // kUnavailable: it would take more time or more bytes than there are.
  Result<std::string> output(const BinaryFile& binary, const std::vector<std::string>& words, const Ran& ran,
                             const std::string& script) const;
  // What it prints of a build for a match table (match_tables.h). kCorrupt: the binary has no metadata that it could read, or no
  // identities.
  Result<std::string> match(const BinaryFile& binary) const;
  // What it prints of a build's functions and data (build_bodies.h). `script`: with a match table, by which functions that are
  // called otherwise in another build are the same; empty: they are others.
  Result<std::string> bodies(const BinaryFile& binary, const std::string& script = {}) const;
  // What to say where it printed what the stab-layout of this version does not print.
  Error another_version() const { return corrupt("'" + path + "' is of another version"); }

 private:
  Result<std::string> ask(const BinaryFile& binary, FileQuestion question) const;
};
// For all that one experiment of the lab asks of it: nobody else's experiment waits for longer.
inline constexpr std::chrono::minutes kLayoutsOfAnExperiment{15};
// The engine's, started as the experiment's submitter, with that time from now on. `cancel_fd`: readable: give up.
LayoutTool layout_tool(const EngineOptions& options, const store::ExperimentRow& row, Gate& gate, int cancel_fd);
// For somebody who looks at an experiment: started as its submitter where we are root, else as ourselves.
LayoutTool layout_tool(const host::Installation& installation, const store::ExperimentRow& row);

// The first line of what stab-layout prints about a file.
struct LayoutHead {
  std::string text_hash;
  uint64_t slot_bytes = 0, text_start = 0;
  std::string library;  // what it is called; empty: it is an executable
};
// Absent: it is none of this version.
std::optional<LayoutHead> read_head(std::string_view line);

// The words that ask for the layouts of a library's code. Its pads can't be drawn again.
std::vector<std::string> words_for_library(const Ran& ran, uint64_t drawn_by);

// Of an answer about all functions, its first line and what follows its last one included. kUnavailable: it tells of more
// functions than are mapped, as a stranger's binary may claim.
Result<std::vector<std::string_view>> lines_of_functions(std::string_view text);

template <typename T>
bool take(std::string_view text, int base, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace stab::engine
