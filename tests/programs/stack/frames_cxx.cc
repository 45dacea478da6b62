// What C++ adds to frames: exceptions through padded frames, coroutines, virtual calls, destructors, threads.
#include <atomic>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "features.h"

namespace {

std::atomic<int> destroyed;  // threads throw, too
struct Counted {
  ~Counted() { ++destroyed; }
};

NOINLINE int thrower(int n) {
  Counted counted;
  char local[64];
  snprintf(local, sizeof local, "level %d", n);
  if (n == 0) throw std::runtime_error(local);
  return thrower(n - 1) + static_cast<int>(std::string(local).size());
}

NOINLINE int catcher(int n) {
  try {
    return thrower(n);
  } catch (const std::logic_error&) {
    return -1;
  } catch (const std::exception& error) {
    try {
      throw;  // once more, through this frame
    } catch (const std::runtime_error& again) {
      return static_cast<int>(std::string(again.what()).size()) + n;
    }
  }
}

struct Page {
  char bytes[4096];
};
NOINLINE long throws_pages(Page page, long n) { throw n + page.bytes[n]; }
// 16 MiB of arguments in one activation, which throwing gives back.
NOINLINE long catches_pages() {
  Page page;
  memset(&page, 1, sizeof page);
  long total = 0;
  for (long n = 0; n < 4096; ++n) try {
      total += throws_pages(page, n);
    } catch (long thrown) {
      total += thrown;
    }
  return total;
}

struct Generator {
  struct promise_type {
    int value = 0;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
};

NOINLINE int step(int i) { return static_cast<int>(std::to_string(i * 1000).size()); }

Generator generate(int n) {
  alignas(64) char local[64] = {};
  for (int i = 0; i < n; ++i) {
    local[i % 64] = static_cast<char>(step(i));
    co_yield local[i % 64] + i;
    if (i == 40) throw std::out_of_range("forty");
  }
}

NOINLINE int coroutines() {
  int total = 0;
  Generator first = generate(30), second = generate(60);
  for (int i = 0; i < 60; ++i) {
    try {
      if (!first.handle.done()) first.handle.resume();
      if (!second.handle.done()) second.handle.resume();
    } catch (const std::out_of_range& error) {
      total += static_cast<int>(std::string(error.what()).size());
    }
    total += first.handle.promise().value + second.handle.promise().value;
  }
  first.handle.destroy();
  second.handle.destroy();
  return total;
}

struct Shape {
  virtual ~Shape() = default;
  virtual int area(int n) const = 0;
};
struct Square : Shape {
  int area(int n) const override { return step(n) * n; }
};
struct Stack : Shape {
  std::vector<std::unique_ptr<Shape>> shapes;
  int area(int n) const override {
    int total = 0;
    for (const auto& shape : shapes) total += shape->area(n);
    return total;
  }
};

NOINLINE int virtuals() {
  Stack stack;
  for (int i = 0; i < 5; ++i) stack.shapes.push_back(std::make_unique<Square>());
  auto inner = std::make_unique<Stack>();
  inner->shapes.push_back(std::make_unique<Square>());
  stack.shapes.push_back(std::move(inner));
  return stack.area(11);
}

NOINLINE int threads() {
  std::vector<int> results(8);
  std::vector<std::thread> running;
  for (int i = 0; i < 8; ++i)
    running.emplace_back([&results, i] {
      const std::function<int(int)> deep = [&](int n) { return n == 0 ? catcher(i) : deep(n - 1) + 1; };
      results[static_cast<size_t>(i)] = deep(50);
    });
  int total = 0;
  for (std::thread& thread : running) thread.join();
  for (int result : results) total += result;
  return total;
}

long exceptions() {
  const int before = destroyed;
  const long sizes = catcher(6);
  return sizes * 1000 + destroyed - before;
}
long thrown_arguments() { return catches_pages(); }
long coroutine_frames() { return coroutines(); }
long virtual_calls() { return virtuals(); }
long thread_frames() { return threads(); }

}  // namespace

FEATURES({"exceptions", exceptions, 0}, {"thrown-arguments", thrown_arguments, 0}, {"coroutines", coroutine_frames, 0},
         {"virtual", virtual_calls, 0}, {"std-thread", thread_frames, 0})
