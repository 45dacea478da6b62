// What a computation of layouts starts from: what a trial ran with, its binary, and stab-layout, which draws them again.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.h"
#include "engine/experiment/binary_archive.h"
#include "engine/experiment/store_gate.h"
#include "store/store.h"

namespace stab::engine {

// What a dose report says of where things were.
struct Ran {
  std::string code = "off", stack = "off";
  uint64_t seed = 0, range = 0;
  std::string text_hash;    // empty: code stayed
  std::string script_hash;  // empty: there was no layout script
  uint64_t text_address = 0, ring_address = 0, slot_bytes = 0;
  int64_t layouts = 0, refills = 0;
};
Result<Ran> read_dose(const std::string& text);

// The executable that a trial ran. `is_checked`: whoever reads it holds the hash of its code against the trial's, so that the
// file at the build's old place will do.
Result<std::string> find_binary(store::Store& store, const store::TrialRow& trial, const Archive& archive, bool is_checked);

// stab-layout, where it is, and the gate that is opened while it works; null: nobody else uses the store.
struct LayoutTool {
  std::string path;
  Gate* gate = nullptr;
  // What it prints for a trial; `words`: its command, `script`: what the trial has kept as its layout script.
  Result<std::string> output(std::vector<std::string> words, const Ran& ran, const std::string& script) const;
};

std::vector<std::string_view> split(std::string_view text, char by);

template <typename T>
bool take(std::string_view text, int base, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace stab::engine
