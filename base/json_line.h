// JSON as it is sent and kept: a value on one line.
#pragma once

#include <string>

namespace stab {

// Of nlohmann's json or ordered_json. Texts come from users and programs and need not be UTF-8: each byte that isn't is written
// as the replacement character.
template <class Json>
std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stab
