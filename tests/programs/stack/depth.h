// What the two files of the depth program share.
#pragma once

constexpr int kFrameBytes = 1024;

extern volatile long depth_reached;

// Touches the frame, so that it is really there.
inline void use(char* frame, long n) {
  frame[0] = static_cast<char>(n);
  __asm__ volatile("" : : "r"(frame) : "memory");
  depth_reached = n;
}

long here(long n);
long there(long n);
