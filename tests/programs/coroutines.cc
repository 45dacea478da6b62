// C++20 coroutines: frames on the heap hold the addresses of resume functions while layouts pass.
// flags: -std=c++20
#include <coroutine>
#include <exception>
#include "repeat.h"
struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) { value = v; return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
  ~Numbers() { handle.destroy(); }
  Numbers(std::coroutine_handle<promise_type> h) : handle(h) {}
};
static Numbers squares(int n) { for (int i = 0; i < n; ++i) co_yield i * i; }
static Numbers counting() { for (int i = 0;; ++i) co_yield i; }
int main() {
  Numbers slow = counting();
  int turns = 0;
  REPEAT {
    Numbers fresh = squares(100);
    long sum = 0;
    for (fresh.handle.resume(); !fresh.handle.done(); fresh.handle.resume()) sum += fresh.handle.promise().value;
    CHECK(sum == 328350);
    slow.handle.resume();
    CHECK(slow.handle.promise().value == turns++);
  }
  puts("coroutines ok");
}
