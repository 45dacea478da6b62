// The processor's model, by which machines are told apart.
#pragma once

#include <string>
#include <string_view>

namespace stab {

// Of the text of /proc/cpuinfo. x86 has a name for it: "AMD EPYC 9B14". Arm has the four numbers of a kind of core, and a
// machine may have several kinds, each named once: "implementer 0x41, part 0xd0c, variant 0x3, revision 1". Empty: it has
// neither.
std::string cpu_model_of(std::string_view cpuinfo);

}  // namespace stab
