// Exceptions through frames that run in copies of different age, with destructors, rethrow and noexcept barriers.
#include <exception>
#include <stdexcept>
#include <string>
#include "repeat.h"
static int alive;
struct Guard { Guard() { ++alive; } ~Guard() { --alive; } };
NOINLINE int thrower(int depth) {
  Guard guard;
  if (depth == 0) throw std::runtime_error("bottom");
  if (depth % 7 == 0) {
    try { return thrower(depth - 1) + 1; }
    catch (const std::logic_error&) { return -1; }
    catch (...) { Guard inner; throw; }
  }
  return thrower(depth - 1) + 1;
}
NOINLINE std::exception_ptr capture() {
  try { thrower(5); } catch (...) { return std::current_exception(); }
  return nullptr;
}
int main() {
  REPEAT {
    try { thrower(30); CHECK(false); }
    catch (const std::exception& error) { CHECK(std::string(error.what()) == "bottom"); }
    try { std::rethrow_exception(capture()); } catch (const std::runtime_error&) {}
    CHECK(alive == 0);
  }
  puts("exceptions ok");
}
