// Answers of the protocol as answers of HTTP.
#pragma once

#include <string>

#include "stabd/daemon/answers/service.h"
#include "stabd/daemon/web/form.h"

namespace stab::daemon {

// Bytes for it. From any thread. `closes`: the connection, behind it.
std::string web_answer(WebForm form, bool closes, const ServiceAnswer& answer);

}  // namespace stab::daemon
