// What stab-layout reads, and how it says that it can't.
#pragma once

namespace stab::layout {

// 1, having said why on standard error.
int refuse(const char* file, const char* why);

// "-" is standard input. -1: it has said what is wrong. Of a pipe nobody waits for the other end.
int open_regular(const char* path);

}  // namespace stab::layout
