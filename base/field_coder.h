// FieldWriter and FieldReader: structs to bytes and back, by one list of fields for both directions:
//
//   struct Look {
//     std::string path;
//     template <class Self, class Coder>
//     static void fields(Self& self, Coder& coder) { coder.all(self.path); }
//   };
//
// Numbers as this machine has them, because both ends are of one build on one machine; texts and lists behind their count. Bytes
// of a stranger make no more than a small multiple of themselves, a text holds no zero byte, and what is left over is as wrong
// as what is missing.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stab {

template <class T, class Coder>
concept HasFields = requires(T& value, Coder& coder) { T::fields(value, coder); };

class FieldWriter {
 public:
  template <class... Values>
  void all(const Values&... values) { (put(values), ...); }
  std::string take() { return std::move(bytes_); }

 private:
  template <std::integral Number>
  void put(Number number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void put(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  template <class Item>
  void put(const std::vector<Item>& items) {
    put(static_cast<uint32_t>(items.size()));
    for (const Item& item : items) put(item);
  }
  template <class Struct>
    requires HasFields<const Struct, FieldWriter>
  void put(const Struct& value) { Struct::fields(value, *this); }

  std::string bytes_;
};

// Once something doesn't fit, nothing more is read, and whole() is false.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : left_(bytes) {}
  template <class... Values>
  void all(Values&... values) { (get(values), ...); }
  bool whole() const { return ok_ && left_.empty(); }
  bool ok() const { return ok_; }

 private:
  template <std::integral Number>
  void get(Number& number) {
    if (!enough(sizeof number)) return;
    std::memcpy(&number, left_.data(), sizeof number);
    left_.remove_prefix(sizeof number);
  }
  void get(bool& value) {
    uint8_t byte = 0;
    get(byte);
    ok_ = ok_ && byte <= 1;
    value = byte == 1;
  }
  void get(std::string& text) {
    uint32_t size = 0;
    get(size);
    if (!enough(size)) return;
    text.assign(left_.data(), size);
    left_.remove_prefix(size);
    ok_ = text.find('\0') == std::string::npos;
  }
  template <class Item>
  void get(std::vector<Item>& items) {
    uint32_t count = 0;
    get(count);
    // Each item begins with a count of its own, so what follows bounds what is made.
    if (!enough(size_t{count} * sizeof(uint32_t))) return;
    items.resize(count);
    for (Item& item : items) get(item);
  }
  template <class Struct>
    requires HasFields<Struct, FieldReader>
  void get(Struct& value) { Struct::fields(value, *this); }
  bool enough(size_t bytes) { return ok_ = ok_ && bytes <= left_.size(); }

  std::string_view left_;
  bool ok_ = true;
};

}  // namespace stab
