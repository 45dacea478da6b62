// DatabaseFiles: the rules by which SQLite opens files in our processes. Internal to store/.
//
// SQLite takes whatever lies beside a database under the names of its own files: it opens NAME-journal, NAME-wal and NAME-shm
// through links, gives them to the database's owner where we are root, and deletes the file that a journal names as another
// one's (a super-journal). Whoever may write into a database's folder could so have our files changed, given away or removed,
// also by a command that only reads. Therefore SQLite's open(2) and fchown(2) are ours (xSetSystemCall), and each file is
// looked at by the descriptor that SQLite gets:
//
//   a link            is not followed: SQLite has resolved the database's own before
//   a device, a pipe  is not opened, but for those that SQLite itself wants
//   NAME-*            belongs to us, to root or to whom NAME belongs, and has no other name
//   NAME              has no other name if it is opened for writing
//   given away        is only what we have just made
//
// and of a journal that names another file nothing is done at all: no store of ours changes two files at once.
#pragma once

#include <string>

namespace stab::store {

// SQLite's own VFS with these rules. From any thread.
const char* careful_vfs();

// As open(2), for what lies beside a database: -1 and errno where a rule forbids it.
int open_carefully(const char* path, int flags, int mode);

// Which rule has forbidden what to this thread since it was asked last, with the cure; empty: none.
std::string take_refusal();

}  // namespace stab::store
