// DynamicSymbols: what a loaded file defines and takes, read where the loader has mapped it: no lock, no memory, and no message
// for dlerror where a name isn't there.
#pragma once

#include <link.h>
#include <stdint.h>

namespace stab::code {

class DynamicSymbols {
 public:
  // `dynamic`: the file's; nullptr: it has none. `bias`: address minus link-time address.
  DynamicSymbols(const Elf64_Dyn* dynamic, uint64_t bias);
  explicit DynamicSymbols(const dl_phdr_info& file);

  // Where it stands in the table; nullptr: not defined.
  const Elf64_Sym* definition_of(const char* name) const;
  // From now on whoever looks the name up in this file finds `address`: who looks in it before he looks in the program, as a
  // library does that is loaded with RTLD_DEEPBIND. False: the table can't be written, or lacks it. Safe in several threads that
  // lead it to the same; the table stays writable, so that they need no lock.
  bool lead(const char* name, uint64_t address) const;
  bool defines(const char* name) const { return definition_of(name) != nullptr; }
  // Its link-time address; 0: not defined.
  uint64_t value_of(const char* name) const;
  bool has_soname(const char* name) const;
  // Whether it takes a symbol of this name, or one that begins so, from another file.
  bool takes(const char* name) const;
  bool takes_any(const char* beginning) const;

 private:
  uint32_t count() const { return hash_ == nullptr ? 0 : hash_[1]; }
  // A GNU table lists what is defined; all else comes before it.
  uint32_t imports_end() const { return gnu_hash_ != nullptr ? gnu_hash_[1] : count(); }
  const char* name_of(const Elf64_Sym& symbol) const { return names_ + symbol.st_name; }

  uint64_t bias_ = 0;
  const Elf64_Sym* symbols_ = nullptr;
  const char* names_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
  const uint32_t* hash_ = nullptr;
  uint64_t soname_ = 0;  // where in names_; the first is empty
};

}  // namespace stab::code
