// Forked children share the images and the helper of their parent.
#pragma once

namespace stab::code {

// Makes every fork() of this process known to the helper. Called once, before main.
void follow_forks();

// Whether each child has to permit the helper to look at it: Yama is there, and a permission isn't inherited.
void ask_of_children(bool permission);

}  // namespace stab::code
