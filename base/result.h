// Result<T>: a value, or the Error that explains why there is none.
#pragma once

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"

namespace stab {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // pre: ok()
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // pre: !ok()
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  // pre: !ok()
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

// Evaluates `expr` (a Result<T>); on error returns it from the enclosing function, else binds the value.
//   STAB_TRY(auto plan, parse(text));
#define STAB_TRY_CONCAT_(a, b) a##b
#define STAB_TRY_NAME_(line) STAB_TRY_CONCAT_(stab_try_, line)
#define STAB_TRY(decl, ...)                                                        \
  auto STAB_TRY_NAME_(__LINE__) = (__VA_ARGS__);                                   \
  if (!STAB_TRY_NAME_(__LINE__)) return std::move(STAB_TRY_NAME_(__LINE__)).error(); \
  decl = *std::move(STAB_TRY_NAME_(__LINE__))

// The same for a Status. A lambda among the arguments may have a STAB_CHECK_OK of its own; its line is the same as ours, so the
// names differ by a count.
#define STAB_CHECK_OK(...) STAB_CHECK_OK_AS_(STAB_CHECK_NAME_(__COUNTER__), __VA_ARGS__)
#define STAB_CHECK_NAME_(count) STAB_TRY_CONCAT_(stab_status_, count)
#define STAB_CHECK_OK_AS_(status, ...)                               \
  do {                                                               \
    if (auto status = (__VA_ARGS__); !status)                        \
      return std::move(status).error();                              \
  } while (false)

}  // namespace stab
