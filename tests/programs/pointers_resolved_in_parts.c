/* The same where the blocks of resolvers are sections of their own, which are no functions.
   flags: -fPIC -fuse-ld=bfd -fbasic-block-sections=all
   not: -fno-pie -static -flto -Oz    the address of an IFUNC is a stub's there, or the linker is another one */
#include "pointers_resolved.c"
