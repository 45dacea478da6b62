#include "stabd/engine/separation/tree_at_broker.h"

#include <poll.h>

#include "stabd/broker/wire/client.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Between two looks at a tree that is dying; a kill takes some 100 us.
constexpr milliseconds kRetry{1};

constexpr char kNotAsked[] = "it was not asked for";

// A name that does not fit is somebody's who wants to be refused: what is sent is never cut.
Status put_names(const host::TemporaryNames& names, broker::MakeTree& wanted) {
  if (names.kept.size() > broker::kMostKept) return bad_input("more than 8 directories of /tmp to be kept");
  for (const std::string& name : names.kept)
    if (name.size() >= broker::kNameRoom) return bad_input("'/tmp/" + name + "' has too long a name");
  broker::set_text(wanted.tmp, sizeof wanted.tmp, names.tmp);
  broker::set_text(wanted.var_tmp, sizeof wanted.var_tmp, names.var_tmp);
  for (size_t i = 0; i < names.kept.size(); ++i) broker::set_text(wanted.kept[i], sizeof wanted.kept[i], names.kept[i]);
  return {};
}

}  // namespace

Result<TreeAtBroker> TreeAtBroker::create(broker::Client& broker, const TreeWanted& wanted) {
  using broker::Answer;
  using broker::MakeTree;
  MakeTree request;
  request.wanted = static_cast<uint32_t>(wanted.kind);
  request.flags = (wanted.isolated ? MakeTree::kIsolated : 0) | (wanted.limited ? MakeTree::kLimited : 0) |
                  (wanted.private_ipc ? MakeTree::kPrivateIpc : 0) | (wanted.tmp != nullptr ? MakeTree::kPrivateTmp : 0);
  if (wanted.tmp != nullptr) STAB_CHECK_OK(put_names(*wanted.tmp, request));
  request.own_cpu = wanted.own_cpu;
  STAB_TRY(const broker::Reply made, broker.ask(request));
  const Answer& answer = made.answer;
  if (answer.tree_kind > static_cast<uint32_t>(host::TreeKind::kAncestry))
    return Error{ErrorCode::kCorrupt, "the broker's answer: no such kind of tree", {}};
  TreeAtBroker tree(broker, static_cast<host::TreeKind>(answer.tree_kind), answer.tree);
  const auto why = [&](bool asked, uint32_t refused, const char* text) -> std::string {
    if (!asked) return kNotAsked;
    return answer.flags & refused ? text : "";
  };
  tree.why_ipc_is_shared_ = why(wanted.private_ipc, Answer::kSharedIpc, answer.ipc_text);
  tree.why_tmp_is_shared_ = why(wanted.tmp != nullptr, Answer::kSharedTmp, answer.tmp_text);
  tree.why_no_memory_ = why(wanted.limited, Answer::kNoMemoryLimit, answer.text);
  tree.why_no_processes_ = why(wanted.limited, Answer::kNoProcessLimit, answer.text);
  return tree;
}

TreeAtBroker::TreeAtBroker(TreeAtBroker&& other) noexcept
    : broker_(std::exchange(other.broker_, nullptr)),
      kind_(other.kind_),
      number_(other.number_),
      why_no_memory_(std::move(other.why_no_memory_)),
      why_no_processes_(std::move(other.why_no_processes_)),
      why_ipc_is_shared_(std::move(other.why_ipc_is_shared_)),
      why_tmp_is_shared_(std::move(other.why_tmp_is_shared_)),
      begins_trial_(other.begins_trial_) {}

TreeAtBroker::~TreeAtBroker() {
  if (broker_ != nullptr) (void)broker_->ask(broker::DropTree{.tree = number_});
}

bool TreeAtBroker::empty() const {
  const auto reply = broker_->ask(broker::TreeState{.tree = number_});
  return reply && !(reply->answer.flags & broker::Answer::kAlive);
}

Status TreeAtBroker::kill_all(milliseconds deadline) {
  const auto ended = end_at_broker(*broker_, {.tree = number_}, deadline);
  return ended ? Status() : Status(ended.error());
}

Result<broker::Answer> end_at_broker(broker::Client& broker, const broker::End& request, milliseconds deadline) {
  const auto give_up = steady_clock::now() + deadline;
  for (;;) {
    STAB_TRY(const broker::Reply reply, broker.ask(request));
    if (!(reply.answer.flags & broker::Answer::kAlive)) return reply.answer;
    if (steady_clock::now() > give_up)
      return Error{ErrorCode::kBusy, "a process of the trial is still alive after being killed", {}};
    ::poll(nullptr, 0, static_cast<int>(kRetry.count()));
  }
}

}  // namespace stab::engine
