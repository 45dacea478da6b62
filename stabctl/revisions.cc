// A range of revisions becomes two commits, or a sentence that says what is wrong with it.
#include "stabctl/revisions.h"

#include "stabctl/git.h"

namespace stab::ctl {
namespace {

constexpr char kFetchAll[] = "; this clone is shallow and may lack it: fetch with depth 0 (git fetch --unshallow)";

bool is_shallow() {
  const auto shallow = git({"rev-parse", "--is-shallow-repository"});
  return shallow && *shallow == "true";
}

// "HEAD~3" of a history of two commits.
std::string why_no_commit(const std::string& name) {
  if (is_shallow()) return kFetchAll;
  const std::string of = name.substr(0, name.find_first_of("~^"));
  if (of.size() < name.size() && !of.empty()) {
    const auto count = git({"rev-list", "--count", "--end-of-options", of});
    if (count && *count == "1") return "; '" + of + "' is the first commit, with none before it to compare it with";
    if (count) return "; '" + of + "' and what came before it are " + *count + " commits";
  }
  return "; 'git log --all --oneline' lists the commits that there are";
}

}  // namespace

Result<Revisions> revisions_of(const std::string& range) {
  const size_t dots = range.find("..");
  const bool forked = dots != std::string::npos && range.compare(dots, 3, "...") == 0;
  std::string base = dots == std::string::npos ? "" : range.substr(0, dots);
  const std::string head = dots == std::string::npos ? "" : range.substr(dots + (forked ? 3 : 2));
  if (base.empty() || head.empty())
    return bad_input("'" + range + "' is no range of revisions; write BASE..HEAD, or BASE...HEAD to compare "
                     "with where HEAD left BASE");
  Revisions out;
  STAB_TRY(out.root, git({"rev-parse", "--show-toplevel"}));
  const auto commit = [](const std::string& name) {
    return git({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  };
  const auto base_commit = commit(base), head_commit = commit(head);
  if (!base_commit) return bad_input("'" + base + "' names no commit here" + why_no_commit(base));
  if (!head_commit) return bad_input("'" + head + "' names no commit here" + why_no_commit(head));
  const auto ancestor = git({"merge-base", *base_commit, *head_commit});
  if (!ancestor)
    return bad_input("'" + base + "' and '" + head + "' have no common ancestor, so there is no change to judge" +
                     (is_shallow() ? kFetchAll : "; compare commits of one history"));
  out.base = forked ? *ancestor : *base_commit;
  out.head = *head_commit;
  STAB_TRY(const std::string changes, git({"-C", out.root, "status", "--porcelain", "--untracked-files=no"}));
  if (!changes.empty())
    return bad_input("the working tree has changes that are in no commit, and the gate builds commits:\n" +
                     changes.substr(0, 400) + "\ncommit or stash them");
  return out;
}

}  // namespace stab::ctl
