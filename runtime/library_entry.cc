// In each shared library of which other compilers' code is to move (szc -shared --stab-move=all): what our pass puts into those
// that we compile (instrumenter/pass/module_registration.h). Weak references, so that the library also works without the runtime.
extern "C" {
void stab_rt_code_load(const void* place) __attribute__((weak));
void stab_rt_code_unload(const void* place) __attribute__((weak));
}

namespace {

const char place = 0;

void begin() {
  if (stab_rt_code_load != nullptr) stab_rt_code_load(&place);
}
void end() {
  if (stab_rt_code_unload != nullptr) stab_rt_code_unload(&place);
}

}  // namespace

// Before the library's own constructors, after its own destructors: the second array runs backwards.
extern "C" {
__attribute__((section(".init_array.00001"), used)) void (*const stab_library_begin)() = begin;
__attribute__((section(".fini_array.00001"), used)) void (*const stab_library_end)() = end;
}
