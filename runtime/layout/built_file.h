// A built program as a file: what stab-layout looks up in it beside the metadata of its code.
//
// The file is somebody's: sections and symbols are taken as far as they lie in it, and what doesn't fit is left out.
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

namespace stab::layout {

// A word that a call or a read of data goes through, by its address, and the name of what the loader puts there.
struct Import {
  uint64_t address;
  uint64_t name;  // its hash
};

// Where an object lies that has a symbol.
struct Named {
  uint64_t address, end;
};

// What is in the constants that the program's functions use (stab_contents), by the functions' numbers.
struct ConstantLists {
  const uint32_t* ends = nullptr;  // nullptr: the file says nothing of it
  const uint32_t* hashes = nullptr;
  uint32_t function_count = 0;

  uint32_t first_of(uint32_t function) const { return function == 0 ? 0 : ends[function - 1]; }
};

struct BuiltFile {
  int file = -1;
  Elf64_Ehdr header{};
  const Elf64_Shdr* sections = nullptr;
  Import* imports = nullptr;  // ascending by address
  size_t import_count = 0;
  uint64_t* words = nullptr;  // that the loader makes addresses of, by their own
  size_t word_count = 0;
  const Elf64_Sym* symbols = nullptr;  // nullptr: it is stripped
  size_t symbol_count = 0, local_count = 0;
  const char* strings = nullptr;  // of the symbols, with a byte 0 behind them
  size_t string_bytes = 0;
  Named* named = nullptr;  // ascending by address
  size_t named_count = 0;
  ConstantLists constants;  // invariant: ends ascend, up to the number of hashes

  // With a byte 0 behind it; nullptr: it isn't there, or too large.
  char* part(uint64_t offset, uint64_t bytes) const;
  char* part(const Elf64_Shdr& section) const;
  // The hash of the name of what the loader puts there. 0: it is no such word.
  uint64_t import_at(uint64_t address) const;
  // Whether an object that has a symbol lies there.
  bool has_name_at(uint64_t address) const;
  // Whether it is a data object of the program's file with a name and a length.
  bool is_object(const Elf64_Sym& symbol) const;
};

// False: its tables can't be read.
bool read_built_file(int file, BuiltFile& out);

// The contents of sections that hold data, without the words that the loader makes addresses of. At a fixed address the linker
// has made them, and what may be one is taken for one: a number that is as large as an address of the program.
class Contents {
 public:
  explicit Contents(const BuiltFile& of);

  // A hash of an object. 0: not known. pre: is_object
  uint64_t hash_of(const Elf64_Sym& object);
  // A hash of bytes that nothing may write, and of which no name speaks. 0: there are no such bytes.
  uint64_t hash_of_constant(uint64_t address, uint64_t bytes);
  // Whether a number of four bytes may be an address that the linker has made of it.
  bool may_be_address(uint32_t word) const { return is_fixed_ && word >= lowest_ && word < end_; }

 private:
  // nullptr: they can't be read. pre: addresses are known
  const uint8_t* bytes_of(uint32_t section);
  uint8_t* load(const Elf64_Shdr& section) const;
  // Also those of four bytes, which address all of a program at a fixed address.
  void clear_addresses(uint8_t* bytes, uint64_t count) const;

  const BuiltFile& of_;
  const bool is_fixed_;
  uint64_t lowest_ = UINT64_MAX, end_ = 0;  // of the program's addresses
  uint8_t** sections_ = nullptr;            // as they were asked for; nullptr: it is not known where addresses stand
};

}  // namespace stab::layout
