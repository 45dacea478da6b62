// Each way in which a file can't be run has a message of its own: who types a command wants to know which letter was wrong.
#include "stabctl/plan/measured_command.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <variant>

#include "base/absolute_path.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/wording.h"
#include "plan/toml/toml_reader.h"
#include "plan/toml/toml_text.h"
#include "plan/toml/units.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

std::string first_bytes(const std::string& path, size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

// "; did you mean './new'?", of the folder in which it isn't.
std::string near(const std::string& path) {
  constexpr size_t kMostEntries = 1000;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end && names.size() < kMostEntries; at.increment(error))
    names.push_back(
        (fs::path(path).has_parent_path() ? (folder / at->path().filename()).string() : at->path().filename().string()));
  const std::string meant = did_you_mean(path, names);
  return "; " + (meant.empty() ? "build it first, or correct the path" : meant);
}

// "CC=gcc" in front of a command.
bool sets_a_variable(const std::string& word) {
  const size_t end = word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
  return end != std::string::npos && end > 0 && word[end] == '=' && (word[0] < '0' || word[0] > '9');
}

// Of a bare name, as a shell finds it.
Result<std::string> in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t at = 0; at <= rest.size();) {
    const size_t end = std::min(rest.find(':', at), rest.size());
    const std::string folder = rest.substr(at, end - at);
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    struct stat info;
    if (::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  std::error_code error;
  if (name.ends_with(".toml") && fs::exists(name, error))
    return bad_input(in_quotes(name) + " is a plan; run it with: stabctl run " + shell_word(name));
  if (fs::is_directory(name, error)) return bad_input(in_quotes(name) + " is a directory; name a program in it");
  struct stat link;
  if (::lstat(name.c_str(), &link) == 0)
    return bad_input(in_quotes(name) + " is not in PATH; for the file here write " + in_quotes("./" + name));
  if (sets_a_variable(name))
    return bad_input(in_quotes(name) + " sets a variable, which a shell does: add --shell, or write 'env " + one_line(name) +
                     " ...'");
  return bad_input("there is no program " + in_quotes(name) + " in PATH" + near(name));
}

}  // namespace

Status check_plan_word(const std::string& word) {
  if (std::holds_alternative<toml::TomlNode>(toml::read_toml("word = " + toml::toml_text(word), ""))) return {};
  std::string shown = word;
  std::replace_if(shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return bad_input(in_quotes(shown) + " is not UTF-8, in which plans and reports are written; give the file another name, or run "
                                      "a script that says it");
}

Status check_program(const std::string& path) {
  struct stat info;
  const std::string named = in_quotes(path);
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ELOOP) return bad_input(named + " is a link that leads back to itself; correct it");
    if (errno != ENOENT) return bad_input("program " + named + ": " + std::strerror(errno));
    std::error_code no_link;
    if (const fs::path target = fs::read_symlink(path, no_link); !no_link)
      return bad_input(named + " is a link to " + in_quotes(target.string()) +
                       ", which is not there; build that first, or correct the link");
    return bad_input("there is no program " + named + near(path));
  }
  if (S_ISDIR(info.st_mode))
    return bad_input(named + " is a directory; name a program in it, such as " + in_quotes(path + "/bench"));
  if (!S_ISREG(info.st_mode)) return bad_input(named + " is neither a program nor a script; name a file that can be executed");
  if (::access(path.c_str(), X_OK) == 0) return {};
  if (path.ends_with(".toml")) return bad_input(named + " is a plan; run it with: stabctl run " + shell_word(path));
  struct statvfs disk;
  if ((info.st_mode & 0111) != 0 && ::statvfs(path.c_str(), &disk) == 0 && (disk.f_flag & ST_NOEXEC) != 0)
    return bad_input(named +
                     " lies on a file system that is mounted noexec, from which nothing is executed; copy it to another one");
  const std::string begins = first_bytes(path, 2);
  if (begins == "#!")
    return bad_input(named + " is a script without the right to be executed; chmod +x " + shell_word(path) +
                     ", or name its interpreter first");
  return bad_input(named + " can't be executed; chmod +x " + shell_word(path) + " if it is a program");
}

namespace {

// What hyperfine's --shell takes, which here takes nothing: a shell that gets no command, or one where a script is expected.
bool is_name_for_shell(const std::string& typed, const std::vector<std::string>& arguments) {
  constexpr std::string_view kNames[] = {"none", "default", "sh", "bash", "dash", "zsh", "ksh", "fish"};
  const std::string name = fs::path(typed).filename().string();
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return false;
  std::error_code error;
  return arguments.empty() || (arguments[0].find(' ') != std::string::npos && !fs::exists(arguments[0], error));
}

}  // namespace

Result<MeasuredCommand> measured_command(const std::string& typed, const std::vector<std::string>& arguments, bool shell) {
  MeasuredCommand out;
  if (typed.find_first_not_of(" \t\n") == std::string::npos)
    return bad_input("a command is empty; name a program, such as ./old");
  std::string behind;
  for (const std::string& word : arguments) behind += " " + shell_word(word);
  out.shown = one_line(typed + behind);
  if (shell && is_name_for_shell(typed, arguments))
    return bad_input("--shell takes no name, and " + in_quotes(typed) +
                     " is no command: /bin/sh runs commands; for another shell write '" + one_line(typed) +
                     " -c ...', and without --shell there is none");
  if (shell) {
    out.words = {"/bin/sh", "-c", typed + behind};
    if (const Status text = check_plan_word(out.words.back()); !text) return text.error();
    out.is_script = true;
    return out;
  }
  std::error_code error;
  if (fs::exists(typed, error)) {
    out.words = {typed};
  } else {
    auto words = toml::split_words(typed, "add --shell for a command of a shell's");
    if (!words) return bad_input("command " + in_quotes(typed) + ": " + words.error().message);
    out.words = *std::move(words);
  }
  if (out.words.empty() || out.words[0].empty()) return bad_input("command " + in_quotes(typed) + " names no program");
  out.words.insert(out.words.end(), arguments.begin(), arguments.end());
  std::string& program = out.words[0];
  if (program.find('/') == std::string::npos) {
    STAB_TRY(program, in_path(program));
  }
  if (const Status fine = check_program(program); !fine) return fine.error();
  STAB_TRY(program, absolute_path(program));
  program = fs::path(program).lexically_normal().string();
  for (const std::string& word : out.words)
    if (const Status text = check_plan_word(word); !text) return text.error();
  out.szc = engine::szc_program(program);
  out.is_script = first_bytes(program, 2) == "#!";
  return out;
}

void note_unread_input() {
  struct stat info {};
  if (::fstat(STDIN_FILENO, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return;
  if (::lseek(STDIN_FILENO, 0, SEEK_CUR) != 0) return;
  std::error_code error;
  const std::string name = fs::read_symlink("/proc/self/fd/0", error).string();
  std::fprintf(stderr, "note: programs get nothing on standard input, and %s is not read; write --input %s\n",
               error ? "what is redirected here" : printable(in_quotes(name)).c_str(),
               error ? "FILE" : printable(shell_word(name)).c_str());
}

bool is_program_file(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || ::access(path.c_str(), X_OK) != 0) return false;
  const std::string begins = first_bytes(path, 4);
  return begins == "\177ELF" || begins.starts_with("#!");
}

}  // namespace stab::ctl
