// The engine by itself: it finds a user's database, and no event loop comes with it.
#include <dlfcn.h>

#include <cstdio>

#include "stabd/engine/separation/places.h"
#include "store/trial_machine.h"

int main() {
  const auto database = stab::engine::default_database();
  std::printf("%s\n", database ? database->c_str() : database.error().message.c_str());
  if (::dlsym(RTLD_DEFAULT, "uv_run") == nullptr) return 0;
  std::puts("libuv is linked into the engine");
  return 1;
}
