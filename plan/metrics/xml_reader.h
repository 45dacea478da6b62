// XML, element by element. What is read was written by a measured program: entities of its own are refused, depth is limited.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stab::metrics {

struct XmlEvents {
  std::function<Status(const std::string& name, const std::map<std::string, std::string>& attributes)> begin;
  std::function<Status(const std::string& name)> end;
};

// An error of the reader's ends it, and gets the line that it is about.
Status read_xml(std::string_view text, const XmlEvents& events);

}  // namespace stab::metrics
