// A name says who links where Debian's packages give it. `ld` may be an alternative, and the argument of --ld-path a script that
// runs another: these are asked, and answer as what they run.
#include "instrumenter/driver/linker.h"

namespace stab::driver {

LinkerKind kind_by_path(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name == "ld.lld-19" || path.ends_with("/llvm-19/bin/ld.lld")) return LinkerKind::kLld19;
  if (name == "ld.gold") return LinkerKind::kGold;
  if (name == "ld.bfd") return LinkerKind::kOther;
  return LinkerKind::kUnknown;
}

LinkerKind kind_by_version(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.find("LLD 19.") != line.npos) return LinkerKind::kLld19;
  if (line.find("LLD ") != line.npos) return LinkerKind::kOtherLld;
  if (line.find("GNU gold") != line.npos) return LinkerKind::kGold;
  return line.find("mold") != line.npos ? LinkerKind::kMold : LinkerKind::kOther;
}

}  // namespace stab::driver
