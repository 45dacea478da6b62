// A range of revisions becomes two commits, or a sentence that says what is wrong with it.
#include "stabctl/revisions/revisions.h"

#include <cstdio>

#include "stabctl/revisions/git.h"

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
  if (const auto any = git({"rev-list", "--all", "--max-count=1"}); any && any->empty())
    return ", as this repository has no commit yet: git commit makes the first";
  return "; 'git log --all --oneline' lists the commits that there are";
}

Result<std::string> root_of_working_tree() {
  const auto root = git({"rev-parse", "--show-toplevel"});
  if (root) return root;
  const auto is_bare = git({"rev-parse", "--is-bare-repository"});
  if (is_bare && *is_bare == "true")
    return bad_input(
        "this is a bare repository, and revisions are those of one with a working tree; clone it, and go to the clone");
  const auto is_own = git({"rev-parse", "--is-inside-git-dir"});
  if (is_own && *is_own == "true") return bad_input("this folder is git's own; go to the working tree, whose revisions they are");
  return root;
}

Result<std::string> commit_named(const std::string& name) {
  // Behind ":/text" all is text, so the commit of a tag is asked for by the tag's own hash.
  const auto object = git({"rev-parse", "--verify", "--quiet", "--end-of-options", name});
  auto commit = object ? git({"rev-parse", "--verify", "--quiet", "--end-of-options", *object + "^{commit}"}) : object;
  if (!commit) return bad_input("'" + name + "' names no commit here" + why_no_commit(name));
  return commit;
}

}  // namespace

Result<std::string> uncommitted_changes(const std::string& root) {
  return git({"-C", root, "status", "--porcelain", "--untracked-files=no"});
}

void note_uncommitted_changes(const std::string& root) {
  if (const auto changes = uncommitted_changes(root); changes && !changes->empty())
    std::fprintf(stderr, "note: the working tree has changes that are in neither revision\n");
}

std::string shown_revision(const std::string& name, const std::string& commit) {
  const std::string shown = commit.substr(0, kShownCommit);
  return name.empty() || commit.starts_with(name) ? shown : name + " (" + shown + ")";
}

Result<Revisions> revisions_of(const std::string& base, const std::string& head, bool forked) {
  Revisions out;
  STAB_TRY(out.root, root_of_working_tree());
  STAB_TRY(out.base, commit_named(base));
  STAB_TRY(out.head, commit_named(head));
  const auto ancestor = git({"merge-base", out.base, out.head});
  if (!ancestor)
    return bad_input("'" + base + "' and '" + head + "' have no common ancestor, so there is no change to judge" +
                     (is_shallow() ? kFetchAll : "; compare commits of one history"));
  out.base_name = base;
  out.head_name = head;
  if (!forked || *ancestor == out.base) return out;
  out.base = *ancestor;
  out.base_name.clear();
  return out;
}

Result<RevisionRange> range_of(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots != std::string::npos) {
    const bool forked = text.compare(dots, 3, "...") == 0;
    RevisionRange out{text.substr(0, dots), text.substr(dots + (forked ? 3 : 2)), forked};
    if (!out.base.empty() && !out.head.empty()) return out;
  }
  return bad_input("'" + text +
                   "' is no range of revisions; write BASE..HEAD, or BASE...HEAD to compare "
                   "with where HEAD left BASE");
}

Result<Revisions> revisions_of(const std::string& range) {
  constexpr size_t kMostShown = 400;
  STAB_TRY(const RevisionRange ends, range_of(range));
  STAB_TRY(Revisions out, revisions_of(ends.base, ends.head, ends.forked));
  STAB_TRY(const std::string changes, uncommitted_changes(out.root));
  if (!changes.empty())
    return bad_input("the working tree has changes that are in no commit, and what is built are commits:\n" +
                     changes.substr(0, kMostShown) + "\ncommit or stash them");
  return out;
}

}  // namespace stab::ctl
