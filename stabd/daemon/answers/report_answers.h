// What the daemon answers about one experiment's results (docs/reference/protocol.md): the report as text or JSON, and its page.
// Both name cells, so who may look, and that somebody did, is decided and noted before (stabd/daemon/answers/service.cc).
#pragma once

#include <string>

#include "base/result.h"
#include "stabd/daemon/protocol/protocol.h"
#include "store/store.h"

namespace stab::daemon {

// JSON of what `stabctl report` prints, with its exit status.
Result<std::string> report_answer(store::Store& store, const store::ExperimentRow& row, const RpcRequest& request);
// The same form, with the page in place of the text. It may be longer than one answer.
Result<std::string> page_answer(store::Store& store, const store::ExperimentRow& row);

}  // namespace stab::daemon
