// LineTable: addresses of one module to source lines and functions, inlined calls included.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/lines/module_file.h"
#include "stabd/lines/wire/lines_wire.h"

namespace stab::lines {

// One step of the way from an instruction to the function that holds its code. Numbers are of names().
struct Frame {
  uint32_t file = 0;
  uint32_t line = 0;      // 0: no line, code of the compiler's own
  uint32_t function = 0;
  bool operator==(const Frame&) const = default;
};

// Texts by number, so that frames are small and compare quickly. 0 is the empty one.
class Names {
 public:
  Names();
  uint32_t number(const std::string& text);
  const std::string& operator[](uint32_t number) const { return texts_[number]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  std::vector<uint32_t> slots_;  // open addressing; 0: free
  void grow();
};

class LineTable {
 public:
  // Reads what `module` is and where its lines are; `read` says what came of it in any case. Null: it has no lines.
  static std::unique_ptr<LineTable> open(const Module& module, const std::string& debug_folder, Names& names, ModuleRead& read);
  ~LineTable();

  // Innermost first. Empty: the address has no line.
  std::vector<Frame> frames_at(uint64_t address) const;
  // Stretches of executable code, in no order, throughout each of which frames_at() is the same; only of compile units that name
  // a file that `is_wanted`, by its number.
  void each_stretch(const std::function<bool(uint32_t file)>& is_wanted,
                    const std::function<void(uint64_t begin, uint64_t end)>& visit) const;

 private:
  struct Parts;
  explicit LineTable(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace stab::lines
