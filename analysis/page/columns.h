// Columns: one value of each kind for each trial, packed so that 100,000 trials fit a page. On disk: for each column its
// numbers little-endian, byte plane by byte plane (the first byte of every row, then the second, ...), all columns one
// after the other, deflated (zlib), Base64. Names, types and their order are in the JSON beside it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/text/json_writer.h"
#include "base/result.h"

namespace stab::page {

// Do not rename: on disk.
enum class ColumnType { kU8, kU16, kU32, kU64, kF32, kF64 };
std::string_view name(ColumnType type);
size_t width(ColumnType type);

struct PackedColumn {
  std::string name;
  ColumnType type = ColumnType::kF64;
  std::vector<uint64_t> bits;  // of each row, in the low bytes

  double real(size_t row) const;           // pre: a floating type. NaN: there is no value
  uint64_t whole(size_t row) const { return bits[row]; }  // pre: an integer type
};

// invariant: every column has rows() rows
class Columns {
 public:
  explicit Columns(size_t rows) : rows_(rows) {}
  size_t rows() const { return rows_; }

  void add_whole(std::string name, const std::vector<uint64_t>& values);  // in the smallest type that holds them
  void add_real(std::string name, const std::vector<double>& values);     // NaN: there is no value
  void add_single(std::string name, const std::vector<double>& values);   // for drawing: single precision

  const PackedColumn* find(std::string_view name) const;
  const std::vector<PackedColumn>& all() const { return columns_; }

  void describe(text::JsonWriter& json) const;  // "rows" and "columns"
  std::string packed() const;
  // kCorrupt where the text doesn't hold what the description promises.
  struct Named {
    std::string name, type;
  };
  static Result<Columns> unpack(size_t rows, const std::vector<Named>& described, std::string_view packed);

 private:
  size_t rows_;
  std::vector<PackedColumn> columns_;
};

}  // namespace stab::page
