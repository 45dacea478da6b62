// A program into which the heap is linked, as the drivers do it: dynamic, static, position independent or not.
// Exit 0: C and C++ allocation work, a failing new throws, replaced operators are called, threads and forks work.
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#define CHECK(condition) \
  if (!(condition)) {    \
    printf("line %d: %s\n", __LINE__, #condition); \
    exit(1);             \
  }

struct alignas(256) Wide {
  char bytes[300];
};

struct Early {
  std::string text = std::string(1000, 'e');
} early;  // allocates before main

thread_local std::vector<int> late(1000, 3);  // freed by a destructor at thread exit

void* work(void*) {
  std::map<int, std::string> table;
  for (int i = 0; i < 2000; ++i) table[i] = std::string(static_cast<size_t>(i) % 300, 'x');
  late.push_back(static_cast<int>(table.size()));
  return new std::string("from a thread");
}

int main(int argc, char**) {
  const char* mode = getenv("STAB_HEAP");
  CHECK(early.text.size() == 1000);
  std::vector<std::unique_ptr<Wide>> wide;
  for (int i = 0; i < 100; ++i) {
    wide.push_back(std::make_unique<Wide>());
    CHECK(reinterpret_cast<size_t>(wide.back().get()) % 256 == 0);
  }
  const size_t huge = static_cast<size_t>(argc) << 62;
  bool thrown = false;
  try {
    delete[] new char[huge];
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
  CHECK(new (std::nothrow) char[huge] == nullptr);
  static int handled = 0;
  std::set_new_handler([] {
    if (++handled == 3) std::set_new_handler(nullptr);
  });
  CHECK(operator new(huge, std::nothrow) == nullptr);
  CHECK(handled == 3);
  std::set_new_handler([] { throw std::bad_alloc(); });
  CHECK(operator new(huge, std::nothrow) == nullptr);
  CHECK(operator new[](huge, std::align_val_t{256}, std::nothrow) == nullptr);
  std::set_new_handler(nullptr);

  pthread_t threads[4];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, nullptr);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::vector<std::string> filled(5000, std::string(100, 'c'));
      _exit(filled.size() == 5000 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  for (pthread_t thread : threads) {
    void* got = nullptr;
    pthread_join(thread, &got);
    CHECK(*static_cast<std::string*>(got) == "from a thread");
    delete static_cast<std::string*>(got);
  }
  char* line = nullptr;  // memory that libc allocates and we free
  size_t room = 0;
  FILE* file = fmemopen(const_cast<char*>("one\ntwo\n"), 8, "r");
  CHECK(getline(&line, &room, file) == 4);
  fclose(file);
  free(line);
  void* block = malloc(100);
  const bool ours = malloc_usable_size(block) == 112;  // glibc says 104
  CHECK(ours == (mode != nullptr && strcmp(mode, "off") != 0));
  free(block);
  malloc_trim(0);
  puts("linked ok");
}
