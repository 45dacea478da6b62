// Which source files a pattern of a plan means: "src/%", "main.c", "/home/me/project/%".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stab::lines {

// "%" stands for any characters, none included. A pattern that begins with a slash is held against the whole path, another one
// against the end of it from any directory on: "src/%" means /build/project/src/a.c.
bool matches_source(std::string_view pattern, std::string_view path);

// Whether one of them does. Files of the system (below /usr/include, /usr/lib, /usr/local/include) belong to whoever calls into
// them unless a pattern names them from the root: "%" alone doesn't mean them.
bool in_scope(const std::vector<std::string>& patterns, std::string_view path);

}  // namespace stab::lines
