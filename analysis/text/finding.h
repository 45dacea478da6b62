// Finding: what a statistical method says, as named fields in order. One structure feeds people and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace stab::text {

class Finding {
 public:
  // monostate is "there is none": null in JSON, "-" for people.
  using Value = std::variant<std::monostate, double, int64_t, bool, std::string, std::vector<double>,
                             std::vector<std::string>, std::vector<Finding>>;

  Finding& add(std::string name, double number);
  Finding& add(std::string name, std::optional<double> number);
  Finding& add(std::string name, std::string text);
  Finding& add(std::string name, const char* text) { return add(std::move(name), std::string(text)); }
  Finding& add(std::string name, std::vector<double> numbers);
  Finding& add(std::string name, std::vector<std::string> texts);
  Finding& add(std::string name, std::vector<Finding> rows);
  Finding& add_count(std::string name, uint64_t count);
  Finding& add_flag(std::string name, bool flag);

  Finding& append(const Finding& other);  // its fields after ours

  // The name of the first number that is NaN or infinite; empty: all mean something.
  std::string not_finite() const;

  const std::vector<std::pair<std::string, Value>>& fields() const { return fields_; }

  // Numbers with 17 significant digits.
  std::string json() const;
  // "name  value" lines; lists of findings as tables.
  std::string text(int width) const;

 private:
  std::vector<std::pair<std::string, Value>> fields_;
};

}  // namespace stab::text
