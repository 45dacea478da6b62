// What GNU as can't read.
#pragma once

#include <llvm/IR/GlobalValue.h>

namespace stab {

// On functions of modules that another assembler than LLVM's own is to read (-fno-integrated-as).
inline constexpr llvm::StringRef kGnuAssemblerAttribute = "stab-gnu-assembler";

// Whether a section may be tied to this symbol. A name with other characters than letters, digits, dots and underlines stands in
// quotes, as that of a lambda in a function does, and of such a name GNU as 2.40 takes the second quote for a part.
bool may_be_tied_to(const llvm::GlobalValue& symbol);

}  // namespace stab
