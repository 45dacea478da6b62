// Formulas as in SP 800-22 Rev. 1a; the number in front of each function is its section there.
#include "tests/bench/nist_tests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

namespace stab::nist {
namespace {

using Complex = std::complex<double>;
const double kPi = std::acos(-1.0);

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// In place, size a power of two.
void transform(std::vector<Complex>& x) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t length = 2; length <= n; length *= 2) {
    const Complex step = std::polar(1.0, -2 * kPi / static_cast<double>(length));
    for (size_t start = 0; start < n; start += length) {
      Complex factor = 1;
      for (size_t i = 0; i < length / 2; ++i, factor *= step) {
        const Complex even = x[start + i], odd = x[start + i + length / 2] * factor;
        x[start + i] = even + odd;
        x[start + i + length / 2] = even - odd;
      }
    }
  }
}

// Any length, as a convolution (Bluestein 1970).
std::vector<Complex> spectrum(const std::vector<double>& x) {
  const size_t n = x.size();
  if ((n & (n - 1)) == 0) {
    std::vector<Complex> out(x.begin(), x.end());
    transform(out);
    return out;
  }
  size_t m = 1;
  while (m < 2 * n) m *= 2;
  std::vector<Complex> chirp(n), a(m), b(m);
  for (size_t i = 0; i < n; ++i) {
    chirp[i] = std::polar(1.0, -kPi * static_cast<double>(i * i % (2 * n)) / static_cast<double>(n));
    a[i] = x[i] * chirp[i];
    b[i] = b[(m - i) % m] = std::conj(chirp[i]);
  }
  transform(a);
  transform(b);
  for (size_t i = 0; i < m; ++i) a[i] = std::conj(a[i] * b[i]);
  transform(a);
  std::vector<Complex> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = std::conj(a[i]) / static_cast<double>(m) * chirp[i];
  return out;
}

double chi_square_tail(double chi_square, double degrees) { return igamc(degrees / 2, chi_square / 2); }

}  // namespace

double igamc(double a, double x) {
  if (x <= 0) return 1;
  const double front = std::exp(-x + a * std::log(x) - std::lgamma(a));
  if (x < a + 1) {  // series for the lower function
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * 1e-17; ++n) sum += term *= x / n;
    return 1 - sum * front;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;  // Lentz's continued fraction for the upper one
  for (int i = 1; i < 10000; ++i) {
    const double factor = -i * (i - a);
    b += 2;
    d = 1 / (factor * d + b);
    c = b + factor / c;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return front * h;
}

// 2.1
double frequency(const Bits& bits) {
  double sum = 0;
  for (const uint8_t bit : bits) sum += bit ? 1 : -1;
  return std::erfc(std::abs(sum) / std::sqrt(static_cast<double>(bits.size())) / std::sqrt(2.0));
}

// 2.2
double block_frequency(const Bits& bits, size_t block_bits) {
  const size_t blocks = bits.size() / block_bits;
  double chi_square = 0;
  for (size_t block = 0; block < blocks; ++block) {
    double ones = 0;
    for (size_t i = 0; i < block_bits; ++i) ones += bits[block * block_bits + i];
    const double deviation = ones / static_cast<double>(block_bits) - 0.5;
    chi_square += 4.0 * static_cast<double>(block_bits) * deviation * deviation;
  }
  return igamc(static_cast<double>(blocks) / 2, chi_square / 2);
}

// 2.3
double runs(const Bits& bits) {
  const double n = static_cast<double>(bits.size());
  double share = 0;
  for (const uint8_t bit : bits) share += bit;
  share /= n;
  if (std::abs(share - 0.5) >= 2 / std::sqrt(n)) return 0;
  double changes = 1;
  for (size_t i = 1; i < bits.size(); ++i) changes += bits[i] != bits[i - 1];
  const double expected = 2 * n * share * (1 - share);
  return std::erfc(std::abs(changes - expected) / (2 * std::sqrt(2 * n) * share * (1 - share)));
}

// 2.4; block lengths and probabilities of tables 2-4 and 3-1 to 3-3.
double longest_run(const Bits& bits) {
  struct Shape {
    size_t block_bits;
    int shortest;
    std::vector<double> probabilities;
  };
  const Shape shape = bits.size() < 6272 ? Shape{8, 1, {0.2148, 0.3672, 0.2305, 0.1875}}
                      : bits.size() < 750000
                          ? Shape{128, 4, {0.1174, 0.2430, 0.2493, 0.1752, 0.1027, 0.1124}}
                          : Shape{10000, 10, {0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727}};
  const int classes = static_cast<int>(shape.probabilities.size());
  std::vector<double> seen(shape.probabilities.size());
  const size_t blocks = bits.size() / shape.block_bits;
  for (size_t block = 0; block < blocks; ++block) {
    int longest = 0, current = 0;
    for (size_t i = 0; i < shape.block_bits; ++i) {
      current = bits[block * shape.block_bits + i] ? current + 1 : 0;
      longest = std::max(longest, current);
    }
    ++seen[static_cast<size_t>(std::clamp(longest - shape.shortest, 0, classes - 1))];
  }
  double chi_square = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    const double expected = static_cast<double>(blocks) * shape.probabilities[i];
    chi_square += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  return chi_square_tail(chi_square, classes - 1);
}

// 2.5; probabilities of full rank, one less, and the rest of large matrices (there 0.2888, 0.5776, 0.1336).
double rank(const Bits& bits, size_t rows) {
  const size_t matrices = bits.size() / (rows * rows);
  constexpr std::array<double, 3> kExpected = {0.2887880951, 0.5775761902, 0.1336357147};
  std::array<double, 3> seen{};
  for (size_t matrix = 0; matrix < matrices; ++matrix) {
    std::vector<uint64_t> row(rows);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < rows; ++j) row[i] |= uint64_t{bits[(matrix * rows + i) * rows + j]} << j;
    size_t found = 0;
    for (size_t column = 0; column < rows; ++column) {
      size_t pivot = found;
      while (pivot < rows && (row[pivot] >> column & 1) == 0) ++pivot;
      if (pivot == rows) continue;
      std::swap(row[pivot], row[found]);
      for (size_t i = 0; i < rows; ++i)
        if (i != found && (row[i] >> column & 1) != 0) row[i] ^= row[found];
      ++found;
    }
    ++seen[found == rows ? 0 : found == rows - 1 ? 1 : 2];
  }
  double chi_square = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double mean = kExpected[i] * static_cast<double>(matrices);
    chi_square += (seen[i] - mean) * (seen[i] - mean) / mean;
  }
  return chi_square_tail(chi_square, 2);
}

// 2.6
double fft(const Bits& bits) {
  std::vector<double> x(bits.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = bits[i] ? 1 : -1;
  const std::vector<Complex> s = spectrum(x);
  const double n = static_cast<double>(bits.size());
  const double threshold = std::sqrt(std::log(1 / 0.05) * n);
  double below = 0;
  for (size_t i = 0; i < s.size() / 2; ++i) below += std::abs(s[i]) < threshold;
  const double expected = 0.95 * n / 2;
  const double d = (below - expected) / std::sqrt(n * 0.95 * 0.05 / 4);
  return std::erfc(std::abs(d) / std::sqrt(2.0));
}

// 2.13
double cumulative_sums(const Bits& bits, bool forward) {
  const int64_t n = static_cast<int64_t>(bits.size());
  int64_t sum = 0, z = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += bits[static_cast<size_t>(forward ? i : n - 1 - i)] ? 1 : -1;
    z = std::max(z, std::abs(sum));
  }
  const double root = std::sqrt(static_cast<double>(n)), size = static_cast<double>(z);
  const auto term = [&](int64_t k, int64_t offset) { return normal_cdf(static_cast<double>(4 * k + offset) * size / root); };
  // Integer division truncates towards zero, as in the publication's own code.
  double p = 1;
  for (int64_t k = (-n / z + 1) / 4; k <= (n / z - 1) / 4; ++k) p -= term(k, 1) - term(k, -1);
  for (int64_t k = (-n / z - 3) / 4; k <= (n / z - 1) / 4; ++k) p += term(k, 3) - term(k, 1);
  return p;
}

}  // namespace stab::nist
