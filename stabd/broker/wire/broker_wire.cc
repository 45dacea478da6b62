// A struct's bytes are its encoding; what makes a decoded one safe to use is checked here, field by field, so that the
// broker's own code may rely on it. What can't be known from the bytes alone (whose process a number is, whether a tree
// exists) is the broker's question.
#include "stabd/broker/wire/broker_wire.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/helper/switches.h"

namespace stab::broker {
namespace {

// Without padding, all bytes are fields.
template <typename... Messages>
constexpr bool all_bytes_are_fields(const std::variant<Messages...>*) {
  return (std::has_unique_object_representations_v<Messages> && ...);
}
static_assert(all_bytes_are_fields(static_cast<const Request*>(nullptr)) && std::has_unique_object_representations_v<Answer>);
static_assert(std::is_trivially_copyable_v<Answer> && std::is_trivially_copyable_v<Launch>);

Error wrong(std::string text) { return Error{ErrorCode::kCorrupt, "broker request: " + std::move(text), {}}; }

// The text of a fixed array; nothing where it does not end within it, or where something follows its end.
template <size_t kRoom>
std::optional<std::string_view> text_of(const char (&array)[kRoom]) {
  const char* end = static_cast<const char*>(std::memchr(array, 0, kRoom));
  if (end == nullptr || !std::all_of(end, array + kRoom, [](char character) { return character == 0; })) return {};
  return std::string_view(array, static_cast<size_t>(end - array));
}

template <size_t kRoom>
Status check_name(const char* what, const char (&array)[kRoom]) {
  const auto text = text_of(array);
  if (!text || !is_simple_name(*text)) return wrong(std::string(what).append(" is no simple name"));
  return {};
}

bool is_cpu(int32_t cpu) { return cpu >= -1 && cpu < kMostCpus; }

Status check(const Hello&) { return {}; }
Status check(const Vouch&) { return {}; }
Status check(const OpenKernelLog&) { return {}; }
Status check(const RestoreKnobs&) { return {}; }

// Names where there is to be a /tmp, none behind the first that is missing, and none at all where there isn't.
Status check_temporary_names(const MakeTree& request) {
  const bool wanted = (request.flags & MakeTree::kPrivateTmp) != 0;
  if (wanted && (request.flags & MakeTree::kPrivateIpc) == 0) return wrong("a /tmp of its own without IPC of its own");
  const auto tmp = text_of(request.tmp), var_tmp = text_of(request.var_tmp);
  if (!tmp || !var_tmp || wanted != is_entry_name(*tmp) || (!wanted && !tmp->empty())) return wrong("no name of a /tmp");
  if (!var_tmp->empty() && (!wanted || !is_entry_name(*var_tmp))) return wrong("no name of a /var/tmp");
  bool ended = !wanted;
  for (const auto& room : request.kept) {
    const auto name = text_of(room);
    if (!name || (!name->empty() && (ended || !is_entry_name(*name)))) return wrong("no name of a directory that is kept");
    ended = ended || name->empty();
  }
  return {};
}

Status check(const MakeTree& request) {
  if (request.wanted > 2) return wrong("no such kind of tree");
  if ((request.flags & ~MakeTree::kAllFlags) != 0 || request.zero != 0) return wrong("unknown flags of a tree");
  if (!is_cpu(request.own_cpu)) return wrong("no such cpu");
  return check_temporary_names(request);
}

Status check(const DropTree& request) { return request.tree > 0 && request.zero == 0 ? Status() : wrong("no tree is named"); }
Status check(const TreeState& request) { return request.tree > 0 && request.zero == 0 ? Status() : wrong("no tree is named"); }

// Limits that hold a program back, or its stack, which a plan may want larger. None that gives it priority.
bool may_be_set(uint32_t resource) {
  constexpr uint32_t kAllowed[] = {RLIMIT_STACK, RLIMIT_DATA, RLIMIT_AS,     RLIMIT_CORE,
                                   RLIMIT_CPU,   RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC};
  return std::find(std::begin(kAllowed), std::end(kAllowed), resource) != std::end(kAllowed);
}

Status check(const Launch& request) {
  if ((request.flags & ~Launch::kAllFlags) != 0) return wrong("unknown flags of a launch");
  if ((request.flags & Launch::kHelper) && (request.flags & Launch::kHelperSocket))
    return wrong("a helper of its own and another's socket");
  if ((request.helper_switches & ~helper::kAllSwitches) != 0) return wrong("unknown switches of a helper");
  if (((request.flags & Launch::kHelperScript) || request.helper_switches != 0) && (request.flags & Launch::kHelper) == 0)
    return wrong("a task for a helper without a helper");
  if (request.zero != 0) return wrong("unknown part of a launch");
  if (!is_cpu(request.cpu) || !is_cpu(request.helper_cpu)) return wrong("no such cpu");
  if (request.argc > kMostWords || request.envc > kMostWords) return wrong("too many arguments");
  if (request.limit_count > kMostLimits) return wrong("too many limits");
  for (uint32_t i = 0; i < kMostLimits; ++i) {
    const Limit& limit = request.limits[i];
    if (i >= request.limit_count && (limit.resource != 0 || limit.soft != 0 || limit.hard != 0))
      return wrong("a limit that isn't counted");
    if (i < request.limit_count && !may_be_set(limit.resource)) return wrong("a limit that may not be set");
    if (limit.zero != 0) return wrong("unknown part of a limit");
  }
  if (request.tree == 0 && (request.memory_bytes != 0 || request.processes != 0))
    return wrong("limits of a tree without a tree");
  if (request.slice_ns != 0 && (request.slice_ns < kLeastSliceNs || request.slice_ns > kMostSliceNs))
    return wrong("time slices of no such length");
  if (request.tree == 0 && (request.flags & Launch::kBeginsTrial)) return wrong("the first of a trial without a tree");
  return {};
}

Status check(const OpenCounters& request) {
  if (request.pid < 0) return wrong("no such process");
  if (request.count == 0 || request.count > kMostCounters) return wrong("no such number of counters");
  for (uint32_t i = 0; i < kMostCounters; ++i) {
    const Counter& counter = request.counters[i];
    if ((counter.flags & ~Counter::kAllFlags) != 0) return wrong("unknown flags of a counter");
    if (i >= request.count &&
        (counter.type != 0 || counter.flags != 0 || counter.config != 0 || counter.config1 != 0 || counter.config2 != 0))
      return wrong("a counter that isn't counted");
  }
  return {};
}

Status check(const End& request) {
  if (request.pid < 0 || (request.tree == 0 && request.pid == 0)) return wrong("nothing to end");
  return {};
}

Status check(const TurnKnob& request) {
  if (!is_cpu(request.trial_cpu) || !is_cpu(request.housekeeping_cpu)) return wrong("no such cpu");
  STAB_CHECK_OK(check_name("the knob", request.knob));
  return check_name("the knob's word", request.word);
}

Status check(const Give& request) { return request.uid != kOwnUser && request.zero == 0 ? Status() : wrong("given to no user"); }

template <typename T>
bool decode_as(std::string_view bytes, Result<Request>& result) {
  if (bytes.size() != sizeof(T)) return false;
  T request;
  std::memcpy(&request, bytes.data(), sizeof request);
  if (request.head.kind != T::kKind) return false;
  const Status checked = check(request);
  result = checked ? Result<Request>(Request(request)) : Result<Request>(checked.error());
  return true;
}

template <typename... Messages>
Result<Request> decode_any(std::string_view bytes, const std::variant<Messages...>*) {
  Result<Request> result = wrong("its size is not its kind's");
  (void)(decode_as<Messages>(bytes, result) || ...);
  return result;
}

bool is_known(Kind kind) {
  return static_cast<uint32_t>(kind) >= kFirstKind && static_cast<uint32_t>(kind) <= kLastKind;
}

}  // namespace

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::kHello: return "hello";
    case Kind::kVouch: return "vouch for a user";
    case Kind::kTree: return "make a process tree";
    case Kind::kDropTree: return "remove a process tree";
    case Kind::kTreeState: return "look at a process tree";
    case Kind::kLaunch: return "start a program";
    case Kind::kCounters: return "open counters";
    case Kind::kEnd: return "end a program";
    case Kind::kKernelLog: return "open the kernel's log";
    case Kind::kKnob: return "turn a knob";
    case Kind::kRestore: return "turn the knobs back";
    case Kind::kGive: return "give a directory to a user";
  }
  return "unknown request";
}

bool is_simple_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (text.empty() || !letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || c == '.' || c == '_' || c == '-'; });
}

bool is_entry_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && text.find('/') == text.npos;
}

size_t descriptors_of(const Request& request) {
  if (std::holds_alternative<Vouch>(request) || std::holds_alternative<Give>(request)) return 1;
  const auto* launch = std::get_if<Launch>(&request);
  if (launch == nullptr) return 0;
  return 4u + ((launch->flags & Launch::kHelperSocket) != 0) + ((launch->flags & Launch::kReportPipe) != 0) +
         ((launch->flags & Launch::kHelperScript) != 0);
}

std::string encode(const Request& request) {
  return std::visit([](const auto& message) { return std::string(reinterpret_cast<const char*>(&message), sizeof message); },
                    request);
}

std::optional<uint32_t> other_version(std::string_view bytes) {
  Head head;
  if (bytes.size() < sizeof head) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  return head.version == kVersion ? std::nullopt : std::optional(head.version);
}

Error version_error(uint32_t brokers, uint32_t engines) {
  return Error{ErrorCode::kCorrupt,
               "stab-broker and the program that asks it are of different builds: the broker speaks version " +
                   std::to_string(brokers) + " of their language and the program version " + std::to_string(engines) +
                   "; install all of stab from one build, then restart the services: systemctl restart stab-broker stabd",
               {}};
}

std::string encode_for_other_version(const Answer& answer) { return encode(answer).substr(0, offsetof(Answer, ipc_text)); }

Result<Request> decode_request(std::string_view bytes, size_t descriptors) {
  Head head;
  if (bytes.size() < sizeof head) return wrong("it is too short");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.version != kVersion) return version_error(kVersion, head.version);
  if (!is_known(head.kind)) return wrong("unknown kind " + std::to_string(static_cast<uint32_t>(head.kind)));
  STAB_TRY(const Request request, decode_any(bytes, static_cast<const Request*>(nullptr)));
  if (descriptors_of(request) != descriptors) return wrong("it comes with " + std::to_string(descriptors) + " descriptors");
  return request;
}

std::string encode(const Answer& answer) { return std::string(reinterpret_cast<const char*>(&answer), sizeof answer); }

Result<Answer> decode_answer(std::string_view bytes, size_t descriptors) {
  const auto broken = [](const char* what) {
    return Error{ErrorCode::kCorrupt, std::string("the broker's answer: ") + what, {}};
  };
  if (const auto version = other_version(bytes)) return version_error(*version, kVersion);
  Answer answer;
  if (bytes.size() != sizeof answer) return broken("its size is wrong");
  std::memcpy(&answer, bytes.data(), sizeof answer);
  if (!is_known(answer.head.kind)) return broken("unknown kind");
  if ((answer.flags & ~Answer::kAllFlags) != 0 || answer.code > static_cast<uint32_t>(ErrorCode::kInternal))
    return broken("unknown flags");
  if (!text_of(answer.text) || !text_of(answer.ipc_text) || !text_of(answer.tmp_text)) return broken("its text does not end");
  if (descriptors > kMostDescriptors) return broken("too many descriptors");
  return answer;
}

void set_text(char* to, size_t room, std::string_view text) {
  const size_t bytes = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), bytes);
  std::memset(to + bytes, 0, room - bytes);
}

Answer refusal(Kind kind, const Error& error) {
  Answer answer;
  answer.head.kind = kind;
  answer.flags = Answer::kRefused;
  answer.code = static_cast<uint32_t>(error.code);
  // A text of ours has no 0 inside; one that quotes somebody's bytes might.
  std::string text = error.message;
  std::replace(text.begin(), text.end(), '\0', '?');
  set_text(answer.text, sizeof answer.text, text);
  return answer;
}

}  // namespace stab::broker
