// Seven of the randomness tests of NIST SP 800-22 Rev. 1a (2010), those the STABILIZER paper used on heap
// addresses. Each takes a sequence of bits and returns a P-value; a sequence counts as random at the 1 % level
// if it is at least 0.01. Sections and notation are the publication's; nist_tests_test.cc checks its examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stab::nist {

using Bits = std::vector<uint8_t>;  // 0 or 1 each

double frequency(const Bits& bits);                              // 2.1
double block_frequency(const Bits& bits, size_t block_bits);     // 2.2
double runs(const Bits& bits);                                   // 2.3; 0 if its prerequisite fails
double longest_run(const Bits& bits);                            // 2.4; pre: at least 128 bits
double rank(const Bits& bits, size_t rows);                      // 2.5, square matrices; pre: at least one
double fft(const Bits& bits);                                    // 2.6
double cumulative_sums(const Bits& bits, bool forward);          // 2.13

// Upper regularized incomplete gamma function Q(a, x). pre: a > 0, x >= 0
double igamc(double a, double x);

}  // namespace stab::nist
