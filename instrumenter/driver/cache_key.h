// The key of what a link-time optimizer keeps. lld's cache of ThinLTO (--thinlto-cache-dir) knows an entry by the bitcode and the
// options that it was made with, and passes that a plugin adds are not among them: a plain link would be given code with
// pads, and ours code without.
#pragma once

#include <string>

namespace stab::driver {

// What is told to lld beside our pass: an option that enters the key and does nothing else. It changes with the pass and with
// `places`, what the pass is told of functions' places.
std::string cache_key_option(const std::string& pass_plugin, const std::string& places);

}  // namespace stab::driver
