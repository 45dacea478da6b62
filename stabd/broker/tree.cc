#include "stabd/broker/tree.h"

#include <unistd.h>

namespace stab::broker {
namespace {

std::string why_shared(const Error& error) {
  return error.message + (::geteuid() == 0 ? "" : "; that takes a broker that is root: submit to a stabd that root has started");
}

host::TemporaryNames names_of(const MakeTree& request) {
  host::TemporaryNames names{request.tmp, request.var_tmp, {}};
  for (const auto& kept : request.kept)
    if (kept[0] != 0) names.kept.emplace_back(kept);
  return names;
}

}  // namespace

void Tree::separate(const MakeTree& request, uid_t front_end, Answer& answer) {
  if (request.flags & MakeTree::kPrivateTmp) tmp.emplace(names_of(request), front_end);
  Result<host::PrivateIpc> made = host::PrivateIpc::make(tmp ? &*tmp : nullptr);
  if (!made && tmp) {
    tmp.reset();
    answer.flags |= Answer::kSharedTmp;
    set_text(answer.tmp_text, sizeof answer.tmp_text, why_shared(made.error()));
    made = host::PrivateIpc::make();
  }
  if (made) return ipc.emplace(*std::move(made)), void();
  answer.flags |= Answer::kSharedIpc;
  set_text(answer.ipc_text, sizeof answer.ipc_text, why_shared(made.error()));
}

Status Tree::renew() {
  if (!ipc || (!ipc->is_used() && (!tmp || tmp->is_current()))) return {};
  Result<host::PrivateIpc> made = host::PrivateIpc::make(tmp ? &*tmp : nullptr);
  if (!made)
    return Error{made.error().code, "launch: replace namespaces that a trial has left something in: " + made.error().message, {}};
  ipc.emplace(*std::move(made));
  return {};
}

}  // namespace stab::broker
