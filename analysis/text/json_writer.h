// JsonWriter: JSON text, written in order, numbers with 17 significant digits so that they read back exactly.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stab::text {

class JsonWriter {
 public:
  // Keys are for members of objects; elements of arrays have none.
  JsonWriter& begin_object(std::string_view key = {});
  JsonWriter& begin_array(std::string_view key = {});
  JsonWriter& end();  // the innermost object or array

  JsonWriter& value(std::string_view key, std::string_view text);
  JsonWriter& value(std::string_view key, const char* text) { return value(key, std::string_view(text)); }
  JsonWriter& value(std::string_view key, const std::string& text) { return value(key, std::string_view(text)); }
  // pre: finite. Infinite or NaN is written as null: JSON has neither, and our results have neither.
  JsonWriter& value(std::string_view key, double number);
  template <std::integral T>
  JsonWriter& value(std::string_view key, T number) {
    if constexpr (std::same_as<T, bool>) return raw(key, number ? "true" : "false");
    else return raw(key, std::to_string(number));
  }
  // Absent: null.
  template <typename T>
  JsonWriter& value(std::string_view key, const std::optional<T>& maybe) {
    return maybe ? value(key, *maybe) : raw(key, "null");
  }
  template <typename T>
  JsonWriter& element(const T& item) { return value({}, item); }
  // What another writer has taken, as a member.
  JsonWriter& json(std::string_view key, std::string_view text);
  // An array on one line, for what is drawn. NaN and infinite ones are null.
  JsonWriter& numbers(std::string_view key, std::span<const double> values, int digits = 7);

  // The finished text, with a final newline. pre: everything is ended
  std::string take();

 private:
  JsonWriter& raw(std::string_view key, std::string_view text);
  void start(std::string_view key);
  void quote(std::string_view text);

  std::string out_;
  std::string closers_;  // what end() writes, innermost last
  bool first_ = true;
};

}  // namespace stab::text
