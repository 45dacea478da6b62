// Delegation: has the groups below a cgroup of version 2 bounded by a controller, and goes back to where we were in the end.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "stabd/host/roots.h"

namespace stab::host {

class Delegation {
 public:
  // `engine`: who asks us, and steps aside with us where we share a group; -1: nobody.
  explicit Delegation(Roots roots, pid_t engine = -1) : roots_(std::move(roots)), engine_(engine) {}
  Delegation(const Delegation&) = delete;
  Delegation& operator=(const Delegation&) = delete;
  // pre: the groups that were made below are gone.
  ~Delegation();

  // Whether children of `group` have this controller from now on: empty, or why not.
  std::string give(const std::string& group, const std::string& controller);

 private:
  std::string step_aside(const std::string& group);
  bool is_ours(pid_t pid) const;
  Roots roots_;
  pid_t engine_;
  std::string aside_;  // the group that we went to, below the one that we were in; empty: none
  std::vector<std::pair<std::string, std::string>> given_;  // group, controller
};

// Where `controller` is named in a file of words.
bool has_word(const std::string& path, const std::string& wanted);

}  // namespace stab::host
