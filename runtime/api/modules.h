// Libraries that were initialized before the runtime began: by -z initfirst, or before libstabhost.so where another file has
// that.
#pragma once

namespace stab::api {

// They have pads, and their code moves, from now on. pre: start() has returned
void load_early();

}  // namespace stab::api
