// OwnCpu: where the broker itself works. Between two trials the engine stores what became of the one, on its own CPU, and we
// start the other: on the trial's, which has nothing to do then. As long as a trial may run we are away from it, and so we are
// where a helper is started, which waits where it begins.
#pragma once

#include <sched.h>

namespace stab::broker {

class OwnCpu {
 public:
  OwnCpu();

  // Goes there, as the housekeeping CPU that it comes back to; where it may not, it works anywhere as before.
  void work_on(int cpu);
  // Where the next settle() goes.
  void come_back_next() { next_ = own_; }
  void visit_next(int cpu);
  void settle();
  // Works anywhere again.
  void leave();

  // While it lives, what is started may use every CPU that we may.
  class Anywhere {
   public:
    explicit Anywhere(const OwnCpu& own) : own_(own.pinned_ ? &own : nullptr) {
      if (own_ != nullptr) ::sched_setaffinity(0, sizeof own_->anywhere_, &own_->anywhere_);
    }
    ~Anywhere() {
      if (own_ != nullptr) move_to(own_->at_);
    }
    Anywhere(const Anywhere&) = delete;
    Anywhere& operator=(const Anywhere&) = delete;

   private:
    const OwnCpu* own_;
  };

 private:
  // Moves to this CPU alone; false: where we were.
  static bool move_to(int cpu);

  cpu_set_t anywhere_;
  bool pinned_ = false;  // to at_: own_, or between two trials theirs
  int own_ = -1, at_ = -1;
  int next_ = -1;        // where settle() goes; -1: nowhere
  // Of equals in front, who has begun goes on until it sleeps: so we are away from the trial's CPU before anybody reads the
  // answer to a launch. Others may be put aside in between.
  const bool is_in_front_;
};

}  // namespace stab::broker
