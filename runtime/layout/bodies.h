// What two builds of a program are told apart by: the bytes of each function without the addresses in them, and what data are and
// where they lie.
#pragma once

namespace stab::layout {

// Prints both of this executable or shared library. False: it has said why not.
//
//   stab-bodies 3 HASH WORD                      of all code that moves (CodeHeader::text_hash); WORD is "constants" where the
//                                                file says what is in those whose address is used (stab_contents), "-" where not
//   f START IDENTITY HASH TABLES CONSTANTS NAME  a function that moves; HASH of its instructions, whatever addresses they use,
//                                                and of the constants without a symbol that they read; TABLES: hashes of its
//                                                jump tables, so far as they are known for such, "5f,a17"; CONSTANTS: one of what
//                                                is at each address of data that it uses, 0: it is not known. "-": there are none
//   d START BYTES HASH NAME                      a data object that has a symbol; HASH of its contents without addresses, 0: they
//                                                are not known
//
// Fields are parted by tabs, numbers are hexadecimal but BYTES. A call of a library's function, and a read of the global offset
// table, count by the name of what they lead to.
//
// `script`: nullptr, or a layout script whose match table tells of functions that are called otherwise in another build
// (code/match_table.h). These, and calls of them, count by the identity that the table's row has in common.
bool print_bodies(char* executable, char* script);

// A name comes from a file of somebody's: tabs and new lines in it would be fields.
void print_name(const char* name);

}  // namespace stab::layout
