// Forked children share the images and the helper of their parent.
#pragma once

namespace stab::code {

// Makes every fork() of this process known to the helper. Called once, before main.
void follow_forks();

}  // namespace stab::code
