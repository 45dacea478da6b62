#include "runtime/code/dynamic_symbols.h"

#include <string.h>

#include "runtime/arch/arch.h"
#include "runtime/same_text.h"
#include "runtime/sys.h"

namespace stab::code {

namespace {

const Elf64_Dyn* dynamic_of(const dl_phdr_info& file) {
  for (int i = 0; i < file.dlpi_phnum; ++i)
    if (file.dlpi_phdr[i].p_type == PT_DYNAMIC)
      return reinterpret_cast<const Elf64_Dyn*>(file.dlpi_addr + file.dlpi_phdr[i].p_vaddr);
  return nullptr;
}

bool make_writable(const Elf64_Sym& symbol) {
  const uint64_t first = reinterpret_cast<uint64_t>(&symbol) & ~(arch::kPage - 1);
  const uint64_t end = (reinterpret_cast<uint64_t>(&symbol + 1) + arch::kPage - 1) & ~(arch::kPage - 1);
  return sys::call(SYS_mprotect, static_cast<long>(first), static_cast<long>(end - first), PROT_READ | PROT_WRITE) == 0;
}

}  // namespace

DynamicSymbols::DynamicSymbols(const dl_phdr_info& file) : DynamicSymbols(dynamic_of(file), file.dlpi_addr) {}

DynamicSymbols::DynamicSymbols(const Elf64_Dyn* dynamic, uint64_t bias) : bias_(bias) {
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    // The loader has made addresses of these, but for the kernel's own file.
    const uint64_t value = dynamic->d_un.d_ptr;
    const uint64_t address = value < bias ? value + bias : value;
    if (dynamic->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const Elf64_Sym*>(address);
    if (dynamic->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(address);
    if (dynamic->d_tag == DT_GNU_HASH) gnu_hash_ = reinterpret_cast<const uint32_t*>(address);
    if (dynamic->d_tag == DT_SONAME) soname_ = value;
    if (dynamic->d_tag == DT_HASH) hash_ = reinterpret_cast<const uint32_t*>(address);
  }
  if (symbols_ == nullptr || names_ == nullptr) gnu_hash_ = hash_ = nullptr;
}

const Elf64_Sym* DynamicSymbols::definition_of(const char* name) const {
  if (gnu_hash_ == nullptr) {
    for (uint32_t i = 1; i < count(); ++i)
      if (symbols_[i].st_shndx != SHN_UNDEF && same_text(name_of(symbols_[i]), name)) return &symbols_[i];
    return nullptr;
  }
  // Buckets | hashes of the symbols from `first` on, the lowest bit ends a bucket.
  const uint32_t buckets = gnu_hash_[0], first = gnu_hash_[1], bloom_words = gnu_hash_[2];
  const uint32_t* const bucket = gnu_hash_ + 4 + bloom_words * 2;
  const uint32_t* const chain = bucket + buckets;
  uint32_t hash = 5381;
  for (const char* at = name; *at != 0; ++at) hash = hash * 33 + static_cast<uint8_t>(*at);
  uint32_t i = buckets == 0 ? 0 : bucket[hash % buckets];
  if (i < first) return nullptr;
  for (;; ++i) {
    if ((chain[i - first] | 1) == (hash | 1) && same_text(name_of(symbols_[i]), name)) return &symbols_[i];
    if ((chain[i - first] & 1) != 0) return nullptr;
  }
}

bool DynamicSymbols::lead(const char* name, uint64_t address) const {
  const Elf64_Sym* const symbol = definition_of(name);
  if (symbol == nullptr) return false;
  if (__atomic_load_n(&symbol->st_value, __ATOMIC_RELAXED) == address - bias_) return true;
  if (!make_writable(*symbol)) return false;
  __atomic_store_n(const_cast<uint64_t*>(&symbol->st_value), address - bias_, __ATOMIC_RELAXED);
  return true;
}

bool DynamicSymbols::has_soname(const char* name) const {
  return names_ != nullptr && same_text(names_ + soname_, name);
}

uint64_t DynamicSymbols::value_of(const char* name) const {
  const Elf64_Sym* const symbol = definition_of(name);
  return symbol == nullptr ? 0 : symbol->st_value;
}

bool DynamicSymbols::takes(const char* name) const {
  for (uint32_t i = 1; i < imports_end(); ++i)
    if (symbols_[i].st_shndx == SHN_UNDEF && same_text(name_of(symbols_[i]), name)) return true;
  return false;
}

bool DynamicSymbols::takes_any(const char* beginning) const {
  const size_t length = strlen(beginning);
  for (uint32_t i = 1; i < imports_end(); ++i)
    if (symbols_[i].st_shndx == SHN_UNDEF && strncmp(name_of(symbols_[i]), beginning, length) == 0) return true;
  return false;
}

}  // namespace stab::code
