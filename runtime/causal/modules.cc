// The other half of regions.h: which module of the area a loaded one is.
//
// _dl_find_object takes no lock, so a trap may ask it anywhere, in the loader itself, too. Names and build ids are read from
// what is mapped. The executable's path is asked for once, before main.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "runtime/causal/area.h"
#include "runtime/causal/clock.h"
#include "runtime/causal/regions.h"
#include "runtime/sys.h"

namespace stab::causal {
namespace {

// Loaded modules that were met. Written under `adding`, read without: count is raised last.
struct Loaded {
  const void* start;  // of the mapping
  const void* map;    // link_map
  const char* name;   // link_map's; compared as a pointer
  uint64_t bias;
  uint32_t module;
};
constexpr uint32_t kMostLoaded = 512;
Loaded loaded[kMostLoaded];
uint32_t loaded_count = 0;
uint32_t adding = 0;

struct BuildId {
  uint8_t bytes[20] = {};
  uint32_t count = 0;
};

// From the notes in memory. `header` is where the file's first bytes are mapped.
BuildId build_id_of(const void* header, uint64_t bias) {
  BuildId id;
  const auto* elf = static_cast<const Elf64_Ehdr*>(header);
  if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phentsize != sizeof(Elf64_Phdr)) return id;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(static_cast<const char*>(header) + elf->e_phoff);
  for (unsigned i = 0; i < elf->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(bias + segments[i].p_vaddr);
    const char* const end = at + segments[i].p_memsz;
    while (at + sizeof(Elf64_Nhdr) <= end) {
      Elf64_Nhdr note;
      memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* value = name + ((note.n_namesz + 3u) & ~3u);
      if (value + note.n_descsz > end) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
        id.count = note.n_descsz < sizeof id.bytes ? note.n_descsz : static_cast<uint32_t>(sizeof id.bytes);
        memcpy(id.bytes, value, id.count);
        return id;
      }
      at = value + ((note.n_descsz + 3u) & ~3u);
    }
  }
  return id;
}

const char* last_component(const char* path) {
  const char* last = path;
  for (; *path != 0; ++path)
    if (*path == '/') last = path + 1;
  return last;
}

bool is_module(const Module& listed, const char* path, bool is_executable, const BuildId& id) {
  if (strcmp(listed.path, "MAIN") == 0) return is_executable;
  if (listed.build_id_bytes != 0 && id.count != 0)
    return listed.build_id_bytes == id.count && memcmp(listed.build_id, id.bytes, id.count) == 0;
  if (strchr(listed.path, '/') == nullptr) return strcmp(listed.path, last_component(path)) == 0;
  return strcmp(listed.path, path) == 0;
}

// The number in the area, added where it is not there. Several processes may add at once: each takes a number of its own, and a
// module that so gets two is counted in both.
uint32_t number_of(Area& area, const char* path, bool is_executable, const BuildId& id) {
  const uint64_t used = look(area.state.modules_used);
  for (uint32_t i = 0; i < used && i < kMaxModules; ++i) {
    if (!is_module(area.modules[i], path, is_executable, id)) continue;
    __atomic_fetch_or(&area.modules[i].flags, kModuleSeen, __ATOMIC_RELAXED);
    return i;
  }
  const uint64_t number = __atomic_fetch_add(&area.state.modules_used, 1, __ATOMIC_RELAXED);
  if (number >= kMaxModules) {
    __atomic_store_n(&area.state.modules_used, uint64_t{kMaxModules}, __ATOMIC_RELAXED);
    degrade(area, Degraded::kModulesFull);
    return kNoModule;
  }
  Module& added = area.modules[number];
  strncpy(added.path, path, sizeof added.path - 1);
  memcpy(added.build_id, id.bytes, sizeof added.build_id);
  added.build_id_bytes = id.count;
  __atomic_store_n(&added.flags, kModuleSeen | kModuleByRuntime, __ATOMIC_RELEASE);
  return static_cast<uint32_t>(number);
}

char executable[sizeof Module::path];

const Loaded* find_loaded(const dl_find_object& found) {
  const uint32_t count = __atomic_load_n(&loaded_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i)
    if (loaded[i].start == found.dlfo_map_start && loaded[i].map == found.dlfo_link_map &&
        loaded[i].name == found.dlfo_link_map->l_name)
      return &loaded[i];
  return nullptr;
}

// nullptr: another thread, or what this handler interrupted, is adding one; the next sample there finds it.
const Loaded* add_loaded(Area& area, const dl_find_object& found) {
  if (__atomic_exchange_n(&adding, 1u, __ATOMIC_ACQUIRE) != 0) return nullptr;
  const Loaded* added = nullptr;
  if (const uint32_t count = loaded_count; count < kMostLoaded) {
    Loaded& next = loaded[count];
    const link_map& map = *found.dlfo_link_map;
    const bool is_executable = map.l_name[0] == 0;
    next = {found.dlfo_map_start, &map, map.l_name, map.l_addr, 0};
    next.module = number_of(area, is_executable ? executable : map.l_name, is_executable,
                            build_id_of(found.dlfo_map_start, map.l_addr));
    __atomic_store_n(&loaded_count, count + 1, __ATOMIC_RELEASE);
    added = &next;
  } else {
    degrade(area, Degraded::kModulesFull);
  }
  __atomic_store_n(&adding, 0u, __ATOMIC_RELEASE);
  return added;
}

int list_one(dl_phdr_info* info, size_t, void* area) {
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    dl_find_object found;
    void* const at = reinterpret_cast<void*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    if (_dl_find_object(at, &found) == 0 && found.dlfo_link_map != nullptr && find_loaded(found) == nullptr)
      add_loaded(*static_cast<Area*>(area), found);
    break;
  }
  return 0;
}

}  // namespace

void list_modules(Area& area) {
  if (executable[0] == 0)
    sys::call(SYS_readlink, sys::word("/proc/self/exe"), sys::word(executable), sizeof executable - 1);
  dl_iterate_phdr(list_one, &area);
}

void forget_module_change() { __atomic_store_n(&adding, 0u, __ATOMIC_RELEASE); }

Place find_place(Area& area, uint64_t pc) {
  Place place;
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0 || found.dlfo_link_map == nullptr) return place;
  const Loaded* module = find_loaded(found);
  if (module == nullptr) module = add_loaded(area, found);
  if (module == nullptr || module->module == kNoModule) return place;
  place.module = module->module;
  place.address = pc - module->bias;
  if (const Range* range = find_range(area.ranges, area.script.range_count, place.module, place.address)) {
    place.in_scope = true;
    place.region = range->region;
  }
  return place;
}

}  // namespace stab::causal
