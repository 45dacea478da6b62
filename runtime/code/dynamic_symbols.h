// DynamicSymbols: what a loaded file defines and takes, read where the loader has mapped it: no lock, no memory, and no message
// for dlerror where a name isn't there.
#pragma once

#include <elf.h>
#include <stdint.h>
#include <string.h>

namespace stab::code {

class DynamicSymbols {
 public:
  DynamicSymbols(const Elf64_Dyn* dynamic, uint64_t bias) {
    for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
      // The loader has made addresses of these, but for the kernel's own file.
      const uint64_t value = dynamic->d_un.d_ptr;
      const uint64_t address = value < bias ? value + bias : value;
      if (dynamic->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const Elf64_Sym*>(address);
      if (dynamic->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(address);
      if (dynamic->d_tag == DT_GNU_HASH) gnu_hash_ = reinterpret_cast<const uint32_t*>(address);
      if (dynamic->d_tag == DT_HASH) hash_ = reinterpret_cast<const uint32_t*>(address);
    }
    if (symbols_ == nullptr || names_ == nullptr) gnu_hash_ = hash_ = nullptr;
  }

  bool defines(const char* name) const {
    if (gnu_hash_ == nullptr) return any(1, count(), [&](const Elf64_Sym& s) { return s.st_shndx != SHN_UNDEF && is(s, name); });
    // Buckets | hashes of the symbols from `first` on, the lowest bit ends a bucket.
    const uint32_t buckets = gnu_hash_[0], first = gnu_hash_[1], bloom_words = gnu_hash_[2];
    const uint32_t* const bucket = gnu_hash_ + 4 + bloom_words * 2;
    const uint32_t* const chain = bucket + buckets;
    uint32_t hash = 5381;
    for (const char* at = name; *at != 0; ++at) hash = hash * 33 + static_cast<uint8_t>(*at);
    uint32_t i = buckets == 0 ? 0 : bucket[hash % buckets];
    if (i < first) return false;
    for (;; ++i) {
      if ((chain[i - first] | 1) == (hash | 1) && is(symbols_[i], name)) return true;
      if ((chain[i - first] & 1) != 0) return false;
    }
  }

  // Whether it takes a symbol of this name, or one that begins so, from another file.
  bool takes(const char* name) const {
    return imports([&](const Elf64_Sym& s) { return is(s, name); });
  }
  bool takes_any(const char* beginning) const {
    const size_t length = strlen(beginning);
    return imports([&](const Elf64_Sym& s) { return strncmp(names_ + s.st_name, beginning, length) == 0; });
  }

 private:
  template <typename Holds>
  bool any(uint32_t from, uint32_t to, Holds holds) const {
    for (uint32_t i = from; i < to; ++i)
      if (holds(symbols_[i])) return true;
    return false;
  }
  // A GNU table lists what is defined; all else comes before it.
  template <typename Holds>
  bool imports(Holds holds) const {
    return any(1, gnu_hash_ != nullptr ? gnu_hash_[1] : count(),
               [&](const Elf64_Sym& s) { return s.st_shndx == SHN_UNDEF && holds(s); });
  }
  uint32_t count() const { return hash_ == nullptr ? 0 : hash_[1]; }
  bool is(const Elf64_Sym& symbol, const char* name) const { return strcmp(names_ + symbol.st_name, name) == 0; }

  const Elf64_Sym* symbols_ = nullptr;
  const char* names_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
  const uint32_t* hash_ = nullptr;
};

}  // namespace stab::code
