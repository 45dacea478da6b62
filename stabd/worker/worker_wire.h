// What the engine asks of its worker, and what that answers: one request at a time, one answer to each, a packet of a
// SOCK_SEQPACKET socket each, with at most one descriptor. Both directions of each request stand in one type, its fields
// are named once, and writing and reading follow from that.
//
// Neither side trusts the other's bytes. The worker runs as the submitter, whose other processes may stop, kill or
// imitate it; the engine writes what plans say. So a packet has a limit, every count is held against the bytes that are
// there, a text holds no zero byte, and what is left over is as wrong as what is missing.
//
//   request: Header, the request's fields        answer: Header, then the answer's fields or, with an error, a text
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/field_coder.h"

namespace stab::worker {

// Engine and worker come from the same build; this catches a mixed installation.
inline constexpr uint32_t kVersion = 5;
// The socket's number in the worker: the one of the launcher's that a program inherits.
inline constexpr int kSocketFd = 193;
// Less than half of what a socket takes unless its administrator says otherwise (net.core.wmem_default).
inline constexpr size_t kMaxPacketBytes = 96 << 10;
// How long the words of an error may be.
inline constexpr size_t kMaxWordsBytes = 4096;

// Do not renumber.
enum class Kind : uint32_t {
  kLook = 1, kFind, kOpen, kHash, kHashTree, kCopyTree, kFill, kCheckFiles, kHashOutput, kMatch, kCopyFile, kEmpty, kMeasure,
  kReadMetrics, kReadSimulated, kReadAnew, kOwnLibraries,
};

struct Header {
  uint32_t version = kVersion;
  uint32_t kind = 0;
  uint64_t serial = 0;  // of the request; its answer has the same
  uint32_t error = 0;   // of an answer: 0, or 1 + ErrorCode
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.version, self.kind, self.serial, self.error); }
};

// What an answer consists of where success says everything.
struct Done {
  template <class Self, class Coder>
  static void fields(Self&, Coder&) {}
};

struct Tally {
  uint64_t bytes = 0;  // apparent: a hole counts as if it were written
  uint64_t files = 0;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.bytes, self.files); }
};

enum class FileType : uint32_t { kAbsent, kRegular, kDirectory, kOther };

// What there is at a path, links followed. What may not be looked at is absent.
struct Look {
  static constexpr Kind kKind = Kind::kLook;
  static constexpr char kWords[] = "look at a file";
  static constexpr std::chrono::seconds kLimit{30};
  std::string path;
  struct Answer {
    uint32_t type = 0;  // FileType
    bool executable = false;
    uint64_t bytes = 0, inode = 0;
    int64_t modified_ns = 0;
    bool operator==(const Answer&) const = default;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) {
      coder.all(self.type, self.executable, self.bytes, self.inode, self.modified_ns);
    }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path); }
};

// The first of these that may be run (or read). kNotFound: none.
struct Find {
  static constexpr Kind kKind = Kind::kFind;
  static constexpr char kWords[] = "find a file";
  static constexpr std::chrono::seconds kLimit{30};
  std::vector<std::string> paths;
  bool runs = false;  // else: may be read
  struct Answer {
    uint32_t index = 0;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.index); }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.paths, self.runs); }
};

// Opens the first that may be read, for a program's standard input. The answer comes with the descriptor.
struct Open {
  static constexpr Kind kKind = Kind::kOpen;
  static constexpr char kWords[] = "open stdin";
  static constexpr std::chrono::seconds kLimit{30};
  std::vector<std::string> paths;
  using Answer = Done;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.paths); }
};

// A regular file's SHA-256.
struct Hash {
  static constexpr Kind kKind = Kind::kHash;
  static constexpr char kWords[] = "hash a file";
  static constexpr std::chrono::seconds kLimit{120};
  std::string path;
  uint64_t max_bytes = 0;
  struct Answer {
    std::string sha256;
    uint64_t bytes = 0;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.sha256, self.bytes); }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path, self.max_bytes); }
};

// One hash of all names, modes and contents below a directory.
struct HashTree {
  static constexpr Kind kKind = Kind::kHashTree;
  static constexpr char kWords[] = "hash a source directory";
  static constexpr std::chrono::seconds kLimit{600};
  std::string root;
  Tally most;
  using Answer = Hash::Answer;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.root, self.most); }
};

// Copies what is below one directory into another; links stay links.
struct CopyTree {
  static constexpr Kind kKind = Kind::kCopyTree;
  static constexpr char kWords[] = "copy a source directory";
  static constexpr std::chrono::seconds kLimit{600};
  std::string from, to;
  Tally most;
  using Answer = Tally;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.from, self.to, self.most); }
};

// Makes the program's directory below a trial's, and copies inputs there; links are followed.
struct Fill {
  static constexpr Kind kKind = Kind::kFill;
  static constexpr char kWords[] = "copy inputs";
  static constexpr std::chrono::seconds kLimit{600};
  struct Input {
    std::vector<std::string> paths;  // the first that may be read
    std::string name;                // as the plan says
    std::string target;              // in the directory
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.paths, self.name, self.target); }
  };
  std::string directory, below;
  std::vector<Input> inputs;
  Tally most;
  using Answer = Tally;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.directory, self.below, self.inputs, self.most); }
};

// Whether files below a directory have these hashes. The answer's index is of the first that hasn't.
struct CheckFiles {
  static constexpr Kind kKind = Kind::kCheckFiles;
  static constexpr char kWords[] = "check expected files";
  static constexpr std::chrono::seconds kLimit{120};
  struct File {
    std::string path, sha256;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.path, self.sha256); }
  };
  std::string directory;
  std::vector<File> files;
  uint64_t max_bytes = 0;  // of all together
  struct Answer {
    bool differs = false;
    uint32_t index = 0;
    std::string sha256;  // that it has
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.differs, self.index, self.sha256); }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.directory, self.files, self.max_bytes); }
};

// SHA-256 of the first bytes of the descriptor that comes with the request.
struct HashOutput {
  static constexpr Kind kKind = Kind::kHashOutput;
  static constexpr char kWords[] = "hash a trial's output";
  static constexpr std::chrono::seconds kLimit{120};
  uint64_t bytes = 0;
  using Answer = Hash::Answer;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.bytes); }
};

// Whether the first bytes of the descriptor that comes with the request match.
struct Match {
  static constexpr Kind kKind = Kind::kMatch;
  static constexpr char kWords[] = "match stdout_regex";
  static constexpr std::chrono::seconds kLimit{120};
  std::string pattern;
  uint64_t bytes = 0;
  struct Answer {
    bool matches = false;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.matches); }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.pattern, self.bytes); }
};

// Copies a regular file of so many bytes into the descriptor that comes with the request, without its holes.
struct CopyFile {
  static constexpr Kind kKind = Kind::kCopyFile;
  static constexpr char kWords[] = "copy a binary for the archive";
  static constexpr std::chrono::seconds kLimit{120};
  std::string path;
  uint64_t bytes = 0;
  using Answer = Done;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path, self.bytes); }
};

// Removes all that is in a directory.
struct Empty {
  static constexpr Kind kKind = Kind::kEmpty;
  static constexpr char kWords[] = "empty a directory";
  static constexpr std::chrono::seconds kLimit{600};
  std::string path;
  using Answer = Done;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path); }
};

// What a directory takes on its disk, all that is below it included. Links are counted, not followed.
struct Measure {
  static constexpr Kind kKind = Kind::kMeasure;
  static constexpr char kWords[] = "measure a directory";
  static constexpr std::chrono::seconds kLimit{120};
  std::string path;
  uint64_t max_files = 0;
  struct Answer {
    uint64_t bytes = 0;  // in blocks of the file system: a hole takes none
    uint64_t files = 0;
    bool whole = true;  // else: there is more, above the limit or where its owner may not look
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.bytes, self.files, self.whole); }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path, self.max_files); }
};

// What a program's output says that it measured, from the one with index `first` on: as many as fit into a packet.
struct ReadMetrics {
  static constexpr Kind kKind = Kind::kReadMetrics;
  static constexpr char kWords[] = "read the metrics of a trial";
  static constexpr std::chrono::seconds kLimit{120};
  std::string path;    // empty: the descriptor that comes with the request
  std::string format;
  uint32_t first = 0;
  struct Row {
    std::string name, reason;  // a reason: there is no value
    uint64_t seconds_bits = 0; // of a double
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.name, self.reason, self.seconds_bits); }
  };
  struct Answer {
    std::vector<Row> rows;
    uint32_t total = 0;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.rows, self.total); }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path, self.format, self.first); }
};

// The sums that cachegrind has left in a file.
struct ReadSimulated {
  static constexpr Kind kKind = Kind::kReadSimulated;
  static constexpr char kWords[] = "read what was simulated";
  static constexpr std::chrono::seconds kLimit{120};
  std::string path;
  struct Row {
    std::string event;
    uint64_t count = 0;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.event, self.count); }
  };
  struct Answer {
    std::vector<Row> rows;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.rows); }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path); }
};

// Whatever memory has of a file is written back and read again. How a file lies in the page cache is a part of what a program's
// start takes: a linker's lies in other pieces than a copy, or than what was read from the disk. Best effort: what somebody maps
// stays as it is, and a file system in memory has nothing to read again. Longer files stay as they are.
struct ReadAnew {
  static constexpr Kind kKind = Kind::kReadAnew;
  static constexpr char kWords[] = "read a program anew";
  static constexpr std::chrono::seconds kLimit{120};
  std::string path;
  uint64_t max_bytes = 0;
  using Answer = Done;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path, self.max_bytes); }
};

// The files of the shared libraries that a program brings along (base/own_libraries.h): as many as an answer holds.
struct OwnLibraries {
  static constexpr Kind kKind = Kind::kOwnLibraries;
  static constexpr char kWords[] = "look for a program's libraries";
  static constexpr std::chrono::seconds kLimit{30};
  std::string path, search_path, directory;
  struct Answer {
    std::vector<std::string> paths;
    template <class Self, class Coder>
    static void fields(Self& self, Coder& coder) { coder.all(self.paths); }
  };
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path, self.search_path, self.directory); }
};

using Writer = FieldWriter;
using Reader = FieldReader;

template <class Request>
std::string encode_request(const Request& request, uint64_t serial) {
  Writer writer;
  writer.all(Header{kVersion, static_cast<uint32_t>(Request::kKind), serial, 0}, request);
  return writer.take();
}

template <class Answer>
std::string encode_answer(Header header, const Answer& answer) {
  Writer writer;
  writer.all(header, answer);
  return writer.take();
}

inline std::string encode_error(Header header, const Error& error) {
  header.error = 1 + static_cast<uint32_t>(error.code);
  Writer writer;
  writer.all(header, error.message.substr(0, kMaxWordsBytes));
  return writer.take();
}

// False where the packet is no request of ours; then nothing of it is to be used.
template <class Request>
bool decode_request(std::string_view packet, Request& request) {
  Header header;
  Reader reader(packet);
  reader.all(header, request);
  return reader.whole() && header.version == kVersion && header.kind == static_cast<uint32_t>(Request::kKind) &&
         header.error == 0;
}

// The same for an answer: to this request, with the answer or with an error whose code is one that files have.
template <class Request>
bool decode_answer(std::string_view packet, uint64_t serial, typename Request::Answer& answer, Error& error) {
  Header header;
  Reader reader(packet);
  reader.all(header);
  if (!reader.ok() || header.version != kVersion || header.kind != static_cast<uint32_t>(Request::kKind) ||
      header.serial != serial)
    return false;
  error = {};
  if (header.error == 0) {
    reader.all(answer);
    return reader.whole();
  }
  reader.all(error.message);
  if (!reader.whole() || error.message.empty() || error.message.size() > kMaxWordsBytes) return false;
  error.code = static_cast<ErrorCode>(header.error - 1);
  switch (error.code) {
    case ErrorCode::kBadInput: case ErrorCode::kNotFound: case ErrorCode::kDenied: case ErrorCode::kCorrupt: return true;
    default: error.code = ErrorCode::kSystem; return true;
  }
}

}  // namespace stab::worker
