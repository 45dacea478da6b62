// What the worker does for each request (stabd/worker/worker_wire.h says what that is), with the rights of whoever it runs as.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/worker/worker_wire.h"

namespace stab::worker {

// `fd`: that came with the request, or that goes with the answer.
Result<Look::Answer> answer(const Look& request, UniqueFd& fd);
Result<Find::Answer> answer(const Find& request, UniqueFd& fd);
Result<Open::Answer> answer(const Open& request, UniqueFd& fd);
Result<Hash::Answer> answer(const Hash& request, UniqueFd& fd);
Result<HashTree::Answer> answer(const HashTree& request, UniqueFd& fd);
Result<CopyTree::Answer> answer(const CopyTree& request, UniqueFd& fd);
Result<Fill::Answer> answer(const Fill& request, UniqueFd& fd);
Result<CheckFiles::Answer> answer(const CheckFiles& request, UniqueFd& fd);
Result<HashOutput::Answer> answer(const HashOutput& request, UniqueFd& fd);
Result<Match::Answer> answer(const Match& request, UniqueFd& fd);
Result<CopyFile::Answer> answer(const CopyFile& request, UniqueFd& fd);
Result<Empty::Answer> answer(const Empty& request, UniqueFd& fd);
Result<ReadMetrics::Answer> answer(const ReadMetrics& request, UniqueFd& fd);
Result<Measure::Answer> answer(const Measure& request, UniqueFd& fd);
Result<ReadAnew::Answer> answer(const ReadAnew& request, UniqueFd& fd);
Result<OwnLibraries::Answer> answer(const OwnLibraries& request, UniqueFd& fd);

// A request packet to its answer's packet; nothing where it is no request. `passed` as `fd` above; `begin` is told how
// many seconds the request may take, before it is done.
std::string answer_to(std::string_view packet, UniqueFd& passed, void (*begin)(std::chrono::seconds limit));

}  // namespace stab::worker
