// The two renderings of a finding.
#include "analysis/text/finding.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/text/json_writer.h"
#include "analysis/text/text_table.h"

namespace stab::text {
namespace {

void write(JsonWriter& json, const Finding& finding);

struct WriteValue {
  JsonWriter& json;
  const std::string& key;

  void operator()(std::monostate) const { json.value(key, std::optional<double>()); }
  void operator()(double number) const { json.value(key, number); }
  void operator()(int64_t number) const { json.value(key, number); }
  void operator()(bool flag) const { json.value(key, flag); }
  void operator()(const std::string& text) const { json.value(key, text); }
  template <typename T>
  void operator()(const std::vector<T>& items) const {
    json.begin_array(key);
    for (const T& item : items) json.element(item);
    json.end();
  }
  void operator()(const std::vector<Finding>& rows) const {
    json.begin_array(key);
    for (const Finding& row : rows) {
      json.begin_object();
      write(json, row);
      json.end();
    }
    json.end();
  }
};

void write(JsonWriter& json, const Finding& finding) {
  for (const auto& [key, value] : finding.fields()) std::visit(WriteValue{json, key}, value);
}

std::string text_of_number(const std::string& key, double number) {
  if (key.starts_with("p_")) return p_text(number);
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", number);
  return text;
}

std::string value_text(const std::string& key, const Finding::Value& value) {
  struct Text {
    const std::string& key;
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(double number) const { return text_of_number(key, number); }
    std::string operator()(int64_t number) const { return std::to_string(number); }
    std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<double>& numbers) const {
      std::string out;
      for (double number : numbers) out += (out.empty() ? "" : "  ") + text_of_number(key, number);
      return out;
    }
    std::string operator()(const std::vector<std::string>& texts) const {
      std::string out;
      for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
      return out;
    }
    std::string operator()(const std::vector<Finding>& rows) const { return std::to_string(rows.size()); }
  };
  return std::visit(Text{key}, value);
}

std::string spaced(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

}  // namespace

Finding& Finding::add(std::string name, double number) {
  fields_.emplace_back(std::move(name), number);
  return *this;
}
Finding& Finding::add(std::string name, std::optional<double> number) {
  fields_.emplace_back(std::move(name), number ? Value(*number) : Value());
  return *this;
}
Finding& Finding::add(std::string name, std::string text) {
  fields_.emplace_back(std::move(name), std::move(text));
  return *this;
}
Finding& Finding::add(std::string name, std::vector<double> numbers) {
  fields_.emplace_back(std::move(name), std::move(numbers));
  return *this;
}
Finding& Finding::add(std::string name, std::vector<std::string> texts) {
  fields_.emplace_back(std::move(name), std::move(texts));
  return *this;
}
Finding& Finding::add(std::string name, std::vector<Finding> rows) {
  fields_.emplace_back(std::move(name), std::move(rows));
  return *this;
}
Finding& Finding::add_count(std::string name, uint64_t count) {
  fields_.emplace_back(std::move(name), static_cast<int64_t>(count));
  return *this;
}
Finding& Finding::add_flag(std::string name, bool flag) {
  fields_.emplace_back(std::move(name), flag);
  return *this;
}

Finding& Finding::append(const Finding& other) {
  fields_.insert(fields_.end(), other.fields_.begin(), other.fields_.end());
  return *this;
}

std::string Finding::not_finite() const {
  for (const auto& [key, value] : fields_) {
    if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number)) return key;
    if (const auto* numbers = std::get_if<std::vector<double>>(&value))
      if (!std::all_of(numbers->begin(), numbers->end(), [](double number) { return std::isfinite(number); })) return key;
    if (const auto* rows = std::get_if<std::vector<Finding>>(&value))
      for (const Finding& row : *rows)
        if (std::string inner = row.not_finite(); !inner.empty()) return inner;
  }
  return {};
}

std::string Finding::json() const {
  JsonWriter json;
  json.begin_object();
  write(json, *this);
  json.end();
  return json.take();
}

std::string Finding::text(int width) const {
  size_t longest = 0;
  for (const auto& [key, value] : fields_)
    if (!std::holds_alternative<std::vector<Finding>>(value)) longest = std::max(longest, key.size());
  std::string out, tables;
  for (const auto& [key, value] : fields_) {
    if (const auto* rows = std::get_if<std::vector<Finding>>(&value)) {
      if (rows->empty()) continue;
      std::vector<TextTable::ColumnStyle> columns;
      for (const auto& [name, cell] : rows->front().fields())
        columns.push_back({spaced(name), std::holds_alternative<std::string>(cell) ? TextTable::Align::kLeft
                                                                                   : TextTable::Align::kRight});
      TextTable table(columns);
      for (const Finding& row : *rows) {
        std::vector<std::string> cells;
        for (const auto& [name, cell] : row.fields()) cells.push_back(value_text(name, cell));
        table.add(std::move(cells));
      }
      tables += "\n" + spaced(key) + "\n" + table.text(width);
      continue;
    }
    out += spaced(key) + std::string(longest - key.size() + 2, ' ') + value_text(key, value) + "\n";
  }
  return out + tables;
}

}  // namespace stab::text
