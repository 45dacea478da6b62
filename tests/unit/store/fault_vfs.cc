#include "fault_vfs.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstring>

namespace stab::store {
namespace {

struct FaultFile {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
FaultFile* self(sqlite3_file* file) { return reinterpret_cast<FaultFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return self(file)->real(); }

// The code to fail with now, or SQLITE_OK.
int strike(int io_error) {
  FaultControl& control = fault_control();
  ++control.count;
  if (control.fault == Fault::kNone || control.count < control.at) return SQLITE_OK;
  if (control.fault == Fault::kDie) ::_exit(kDeathStatus);
  return control.fault == Fault::kDiskFull ? SQLITE_FULL : io_error;
}

int close_file(sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); }
int read_file(sqlite3_file* f, void* to, int n, sqlite3_int64 at) { return real(f)->pMethods->xRead(real(f), to, n, at); }
int write_file(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
  if (const int code = strike(SQLITE_IOERR_WRITE)) return code;
  return real(f)->pMethods->xWrite(real(f), from, n, at);
}
int truncate_file(sqlite3_file* f, sqlite3_int64 n) {
  if (const int code = strike(SQLITE_IOERR_TRUNCATE)) return code;
  return real(f)->pMethods->xTruncate(real(f), n);
}
int sync_file(sqlite3_file* f, int flags) {
  ++fault_control().syncs;
  // A full disk shows at writes; a sync fails with an I/O error.
  if (const int code = strike(SQLITE_IOERR_FSYNC); code == SQLITE_IOERR_FSYNC) return code;
  return real(f)->pMethods->xSync(real(f), flags);
}
int file_size(sqlite3_file* f, sqlite3_int64* n) { return real(f)->pMethods->xFileSize(real(f), n); }
int lock_file(sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); }
int unlock_file(sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); }
int check_lock(sqlite3_file* f, int* out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); }
int control_file(sqlite3_file* f, int op, void* arg) { return real(f)->pMethods->xFileControl(real(f), op, arg); }
int sector_size(sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); }
int characteristics(sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); }
int shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** out) {
  return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}
int shm_lock(sqlite3_file* f, int at, int n, int flags) { return real(f)->pMethods->xShmLock(real(f), at, n, flags); }
void shm_barrier(sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); }
int shm_unmap(sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); }

sqlite3_vfs* default_vfs() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return vfs;
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  static const sqlite3_io_methods methods = {
      2,          close_file, read_file,  write_file,   truncate_file, sync_file,       file_size,
      lock_file,  unlock_file, check_lock, control_file, sector_size,  characteristics, shm_map,
      shm_lock,   shm_barrier, shm_unmap,  nullptr,      nullptr};
  FaultFile* const out = self(file);
  out->base.pMethods = nullptr;
  const int code = default_vfs()->xOpen(default_vfs(), name, out->real(), flags, out_flags);
  if (out->real()->pMethods) out->base.pMethods = &methods;
  return code;
}

}  // namespace

FaultControl& fault_control() {
  static FaultControl control;
  return control;
}

void install_fault_vfs() {
  static sqlite3_vfs vfs;
  if (vfs.zName) return;
  vfs = *default_vfs();
  vfs.zName = kFaultVfs;
  vfs.szOsFile = static_cast<int>(sizeof(FaultFile)) + default_vfs()->szOsFile;
  vfs.xOpen = open_file;
  sqlite3_vfs_register(&vfs, 0);
}

}  // namespace stab::store
