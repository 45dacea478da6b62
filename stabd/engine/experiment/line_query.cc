#include "stabd/engine/experiment/line_query.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/engine/separation/file_reader.h"

namespace stab::engine {
namespace {

// What stab-lines allows itself, and a little.
constexpr std::chrono::seconds kTimeout{330};

Result<UniqueFd> memory_file(const std::string& content) {
  UniqueFd fd(::memfd_create("stab-lines", MFD_CLOEXEC));
  if (!fd) return system_error("memfd_create", errno);
  if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      ::lseek(fd.get(), 0, SEEK_SET) != 0)
    return system_error("write a question for lines", errno);
  return fd;
}

}  // namespace

Result<lines::Answer> ask_for_lines(const Laboratory& laboratory, const std::optional<host::Submitter>& submitter,
                                    const std::string& program, const lines::Request& question) {
  STAB_TRY(const UniqueFd in, memory_file(lines::encode(question)));
  const ReaderSetting setting{started_in(*laboratory.tree, laboratory.limits.commands), submitter, laboratory.cancel_fd,
                              laboratory.clock};
  STAB_TRY(const FileAnswer answer,
           ask_about_files(setting, {{program}, in.get(), -1, kTimeout, lines::kMostAnswerBytes}));
  if (answer.end != AnswerEnd::kWell) return bad_input("the debug information of the program can't be read: " + answer.why);
  return lines::decode_answer(answer.bytes, question);
}

}  // namespace stab::engine
