// zlib deflates, libcrypto knows Base64. Byte planes: the upper bytes of neighbouring numbers are alike, which deflate
// sees only where they lie side by side.
#include "analysis/page/columns.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace stab::page {
namespace {

constexpr std::string_view kTypes[] = {"u8", "u16", "u32", "u64", "f32", "f64"};
constexpr size_t kWidths[] = {1, 2, 4, 8, 4, 8};

std::string base64(const std::string& bytes) {
  // EVP_EncodeBlock takes an int, so large inputs go in pieces of whole triples.
  constexpr size_t kPiece = 3 << 20;
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const size_t size = std::min(kPiece, bytes.size() - at);
    std::string piece(4 * ((size + 2) / 3) + 1, '\0');
    const int written = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(piece.data()),
                                        reinterpret_cast<const unsigned char*>(bytes.data() + at), static_cast<int>(size));
    out.append(piece, 0, static_cast<size_t>(written));
  }
  return out;
}

Result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return corrupt("its Base64 is cut off");
  constexpr size_t kPiece = 4 << 20;
  std::string out;
  for (size_t at = 0; at < text.size(); at += kPiece) {
    const size_t size = std::min(kPiece, text.size() - at);
    std::string piece(size / 4 * 3, '\0');
    if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(piece.data()), reinterpret_cast<const unsigned char*>(text.data() + at),
                        static_cast<int>(size)) < 0)
      return corrupt("it is no Base64");
    out += piece;
  }
  for (size_t padding = 0; padding < 2 && text.size() > padding && text[text.size() - 1 - padding] == '='; ++padding)
    out.pop_back();
  return out;
}

}  // namespace

std::string_view name(ColumnType type) { return kTypes[static_cast<size_t>(type)]; }
size_t width(ColumnType type) { return kWidths[static_cast<size_t>(type)]; }

double PackedColumn::real(size_t row) const {
  if (type == ColumnType::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits[row]));
  return std::bit_cast<double>(bits[row]);
}

void Columns::add_whole(std::string name, const std::vector<uint64_t>& values) {
  const uint64_t largest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  ColumnType type = ColumnType::kU64;
  if (largest <= std::numeric_limits<uint32_t>::max()) type = ColumnType::kU32;
  if (largest <= std::numeric_limits<uint16_t>::max()) type = ColumnType::kU16;
  if (largest <= std::numeric_limits<uint8_t>::max()) type = ColumnType::kU8;
  columns_.push_back({std::move(name), type, values});
}

void Columns::add_real(std::string name, const std::vector<double>& values) {
  PackedColumn column{std::move(name), ColumnType::kF64, {}};
  for (double value : values) column.bits.push_back(std::bit_cast<uint64_t>(value));
  columns_.push_back(std::move(column));
}

void Columns::add_single(std::string name, const std::vector<double>& values) {
  PackedColumn column{std::move(name), ColumnType::kF32, {}};
  for (double value : values) column.bits.push_back(std::bit_cast<uint32_t>(static_cast<float>(value)));
  columns_.push_back(std::move(column));
}

const PackedColumn* Columns::find(std::string_view name) const {
  for (const PackedColumn& column : columns_)
    if (column.name == name) return &column;
  return nullptr;
}

void Columns::describe(text::JsonWriter& json) const {
  json.value("rows", rows_).begin_array("columns");
  for (const PackedColumn& column : columns_)
    json.begin_object().value("name", column.name).value("type", name(column.type)).end();
  json.end();
}

std::string Columns::packed() const {
  std::string planes;
  for (const PackedColumn& column : columns_)
    for (size_t byte = 0; byte < width(column.type); ++byte)
      for (const uint64_t bits : column.bits) planes += static_cast<char>(bits >> (8 * byte) & 0xff);
  uLongf size = compressBound(planes.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(planes.data()), planes.size(), 6);
  out.resize(size);
  return base64(out);
}

Result<Columns> Columns::unpack(size_t rows, const std::vector<Named>& described, std::string_view packed) {
  // A page of ten million trials would be a gigabyte: a file that claims more was not written by us.
  constexpr size_t kMostRows = 10'000'000;
  if (rows > kMostRows) return corrupt("it claims " + std::to_string(rows) + " trials");
  Columns out(rows);
  size_t total = 0;
  for (const Named& column : described) {
    const auto type = std::find(std::begin(kTypes), std::end(kTypes), column.type);
    if (type == std::end(kTypes)) return corrupt("column '" + column.name + "' has the unknown type '" + column.type + "'");
    out.columns_.push_back({column.name, static_cast<ColumnType>(type - std::begin(kTypes)), {}});
    total += rows * width(out.columns_.back().type);
  }
  STAB_TRY(const std::string deflated, from_base64(packed));
  std::string planes(total, '\0');
  uLongf size = total;
  const int status = uncompress(reinterpret_cast<Bytef*>(planes.data()), &size, reinterpret_cast<const Bytef*>(deflated.data()),
                                deflated.size());
  if (status != Z_OK || size != total)
    return corrupt("its trials don't unpack to " + std::to_string(rows) + " rows of their columns");
  size_t at = 0;
  for (PackedColumn& column : out.columns_) {
    column.bits.assign(rows, 0);
    for (size_t byte = 0; byte < width(column.type); ++byte)
      for (uint64_t& bits : column.bits) bits |= static_cast<uint64_t>(static_cast<unsigned char>(planes[at++])) << (8 * byte);
  }
  return out;
}

}  // namespace stab::page
