// Assets: the lab's page as it is in the tree, compiled in. It shares its elements, tables, colours and style with the
// report's page (analysis/page).
#pragma once

#include <string_view>

namespace stab::daemon {

struct Asset {
  std::string_view type, bytes;  // empty type: there is none of that path
  std::string_view gzipped;      // the same bytes as gzip made them when this was built
};
// "/", "/lab.js", "/lab.css".
Asset asset_at(std::string_view path);

}  // namespace stab::daemon
