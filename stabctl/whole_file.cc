#include "stabctl/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace stab::ctl {

Status write_whole(const std::string& text, const std::string& path) {
  const std::string part = path + "." + std::to_string(::getpid()) + ".part";
  std::FILE* file = std::fopen(part.c_str(), "wxe");
  if (!file) return system_error("write '" + part + "'", errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(part.c_str(), path.c_str()) == 0) return {};
  const Error failure = system_error("write '" + path + "'", written ? errno : error);
  std::remove(part.c_str());
  return failure;
}

}  // namespace stab::ctl
