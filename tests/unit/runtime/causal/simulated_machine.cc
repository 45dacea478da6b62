#include "tests/unit/runtime/causal/simulated_machine.h"

#include <algorithm>
#include <cmath>

namespace stab::causal::simulated {
namespace {

constexpr int64_t kStepNs = 10'000;
constexpr int64_t kSliceNs = 3'000'000;
constexpr int64_t kNoWork = -1;

enum class State { kRunnable, kRunning, kBlocked, kSleeping, kIo };

struct Thread {
  const std::vector<Step>* steps = nullptr;
  size_t at = 0;
  int64_t work_ns = kNoWork;
  State state = State::kRunnable;
  int64_t until_ns = 0;
  int cpu = -1;
  int64_t slice_ns = 0;
  int64_t since_sample_ns = 0;
  bool woken = false;
  bool by_world = false;
  bool pays = false;
  int64_t pause_ns = 0;      // a null window's or a slow-down's, still to be spun
  uint64_t unjudged_ns = 0;  // credit of samples that wait for their batch
  int samples = 0;
  int occupied = -1;
  uint64_t seen = 0;
  uint64_t local = 0;
};

class Machine {
 public:
  Machine(const Program& program, const Experiment& experiment)
      : program_(program), is_(experiment), cpus_(program.cpus), clocks_(new CpuClock[program.cpus]()),
        clock_{global_, clocks_.get(), program.cpus, experiment.protocol == Protocol::kOneCpu}, random_(experiment.seed) {
    running_.assign(cpus_, -1);
    threads_.resize(program.threads.size());
    for (size_t i = 0; i < threads_.size(); ++i) {
      threads_[i].steps = &program.threads[i];
      threads_[i].since_sample_ns = std::uniform_int_distribution<int64_t>(0, period_ns() - 1)(random_);
      ready_.push_back(static_cast<int>(i));
    }
  }

  double run(uint64_t run_us) {
    for (now_ns_ = 0; now_ns_ < static_cast<int64_t>(run_us) * 1000; now_ns_ += kStepNs) {
      wake_sleepers();
      schedule();
      for (uint32_t cpu = 0; cpu < cpus_; ++cpu)
        if (running_[cpu] >= 0) advance(static_cast<int>(cpu));
    }
    return static_cast<double>(now_ns_ - static_cast<int64_t>(global_)) / 1000 / static_cast<double>(progress_);
  }

 private:
  bool is_virtual() const { return is_.protocol != Protocol::kReal; }
  bool by_cpu() const { return is_.protocol == Protocol::kCpuSpins; }
  bool by_thread() const { return is_.protocol == Protocol::kThreadSleeps; }
  int64_t period_ns() const { return static_cast<int64_t>(is_.period_us) * 1000; }

  uint64_t debt(const Thread& thread) const {
    if (by_thread()) return global_ > thread.local ? global_ - thread.local : 0;
    return by_cpu() ? clock_.owed(thread.cpu) : 0;
  }

  void judge(Thread& thread) {
    const uint64_t ns = thread.unjudged_ns;
    thread.unjudged_ns = 0;
    if (ns == 0) return;
    if (is_.kind == ArmKind::kNull || is_.kind == ArmKind::kSlowdown) {
      if (!by_cpu()) thread.pause_ns += static_cast<int64_t>(ns);
      if (is_.kind == ArmKind::kSlowdown && by_cpu()) thread.pause_ns += static_cast<int64_t>(ns);
      if (is_.kind == ArmKind::kNull) clock_.charge_everybody(ns);
    } else if (by_thread()) {
      thread.local += ns;
      raise_to(global_, thread.local);
    } else {
      clock_.credit(thread.cpu, ns);
    }
  }

  // Whether the thread may go on, owing nothing; else it begins to pay.
  bool settles(int index) {
    if (!is_virtual() || is_.protocol == Protocol::kOneCpu) return true;
    Thread& thread = threads_[static_cast<size_t>(index)];
    judge(thread);
    const uint64_t owes = debt(thread);
    if (owes == 0) return true;
    if (by_thread()) {
      thread.until_ns = now_ns_ + static_cast<int64_t>(owes);
      thread.local = global_;
      leave(index, State::kSleeping);
    } else {
      thread.pays = true;
    }
    return false;
  }

  void leave(int index, State to) {
    Thread& thread = threads_[static_cast<size_t>(index)];
    running_[static_cast<size_t>(thread.cpu)] = -1;
    thread.cpu = -1;
    thread.state = to;
    if (to == State::kBlocked || to == State::kIo) {
      thread.seen = global_;
      clock_.vacate(thread.occupied);
    }
  }

  void wake(int index) {
    Thread& thread = threads_[static_cast<size_t>(index)];
    thread.state = State::kRunnable;
    thread.woken = true;
    ready_.push_back(index);
  }

  void wake_sleepers() {
    for (size_t i = 0; i < threads_.size(); ++i) {
      Thread& thread = threads_[i];
      if ((thread.state != State::kSleeping && thread.state != State::kIo) || now_ns_ < thread.until_ns) continue;
      thread.by_world |= thread.state == State::kIo;
      if (thread.by_world && is_virtual()) {
        uint64_t more = by_thread() ? debt(thread) : clock_.owed_to_world(thread.seen);
        if (by_thread()) thread.local = global_;
        if (more > 0) {
          thread.state = State::kSleeping;
          thread.until_ns = now_ns_ + static_cast<int64_t>(more);
          continue;
        }
      }
      thread.woken |= thread.by_world;
      thread.state = State::kRunnable;
      ready_.push_back(static_cast<int>(i));
    }
  }

  void schedule() {
    for (uint32_t cpu = 0; cpu < cpus_; ++cpu) {
      if (const int index = running_[cpu]; index >= 0 && threads_[static_cast<size_t>(index)].slice_ns <= 0 && !ready_.empty()) {
        threads_[static_cast<size_t>(index)].state = State::kRunnable;
        threads_[static_cast<size_t>(index)].cpu = -1;
        ready_.push_back(index);
        running_[cpu] = -1;
      }
      if (running_[cpu] >= 0 || ready_.empty()) continue;
      const int index = ready_.front();
      ready_.pop_front();
      running_[cpu] = index;
      Thread& thread = threads_[static_cast<size_t>(index)];
      thread.state = State::kRunning;
      thread.cpu = static_cast<int>(cpu);
      thread.slice_ns = kSliceNs;
      if (by_cpu()) clock_.occupy(thread.occupied, thread.cpu);
      if (!thread.woken) continue;
      thread.woken = false;
      if (by_thread() && !thread.by_world) thread.local = std::min(thread.local + (global_ - thread.seen), global_);
      thread.by_world = false;
    }
  }

  void advance(int cpu) {
    const int index = running_[static_cast<size_t>(cpu)];
    Thread& thread = threads_[static_cast<size_t>(index)];
    thread.slice_ns -= kStepNs;
    if (thread.pause_ns > 0) {
      thread.pause_ns -= kStepNs;
      return;
    }
    if (thread.pays) {
      clock_.count_step(cpu, cpu, kStepNs);
      thread.pays = clock_.owed(cpu) != 0;
      return;
    }
    if (!reaches_work(index) || thread.cpu < 0 || thread.pays) return;
    thread.work_ns -= kStepNs;
    thread.since_sample_ns += kStepNs;
    if (thread.since_sample_ns < period_ns()) return;
    thread.since_sample_ns -= period_ns();
    sample(index);
  }

  void sample(int index) {
    Thread& thread = threads_[static_cast<size_t>(index)];
    const bool hit = (*thread.steps)[thread.at].line == is_.line && is_.speedup > 0;
    if (is_virtual() && hit) thread.unjudged_ns += static_cast<uint64_t>(is_.speedup * static_cast<double>(period_ns()));
    if (!is_virtual() || ++thread.samples % is_.batch != 0) return;
    judge(thread);
    settles(index);
  }

  // Goes through what takes no time. False: the thread is off its CPU, or pays.
  bool reaches_work(int index) {
    Thread& thread = threads_[static_cast<size_t>(index)];
    for (int guard = 0; guard < 1000; ++guard) {
      const Step& step = (*thread.steps)[thread.at];
      if (step.does == Does::kWork) {
        if (thread.work_ns == kNoWork) thread.work_ns = draw(step);
        if (thread.work_ns > 0) return true;
        thread.work_ns = kNoWork;
        next(thread);
        continue;
      }
      if (!does(index, step)) return false;
    }
    return false;
  }

  int64_t draw(const Step& step) {
    double us = static_cast<double>(step.us) * std::uniform_real_distribution<double>(0.7, 1.3)(random_);
    if (!is_virtual() && step.line == is_.line) us *= 1 - is_.speedup;
    return std::max<int64_t>(0, static_cast<int64_t>(us * 1000));
  }

  static void next(Thread& thread) { thread.at = (thread.at + 1) % thread.steps->size(); }

  // True: done, go on.
  bool does(int index, const Step& step) {
    Thread& thread = threads_[static_cast<size_t>(index)];
    const bool may_wake = step.does != Does::kProgress && step.does != Does::kIo && step.does != Does::kLock;
    if (may_wake && is_.pays_before_waking && !settles(index)) return false;
    switch (step.does) {
      case Does::kProgress: ++progress_; break;
      case Does::kBarrier:
        next(thread);
        if (static_cast<int>(at_barrier_.size()) + 1 < program_.barrier_size) {
          at_barrier_.push_back(index);
          leave(index, State::kBlocked);
          return false;
        }
        for (int other : at_barrier_) wake(other);
        at_barrier_.clear();
        return true;
      case Does::kLock:
        if (owner_ >= 0 && !settles(index)) return false;
        next(thread);
        if (owner_ < 0) {
          owner_ = index;
          return true;
        }
        for_lock_.push_back(index);
        leave(index, State::kBlocked);
        return false;
      case Does::kUnlock:
        owner_ = -1;
        if (for_lock_.empty()) break;
        owner_ = for_lock_.front();
        for_lock_.pop_front();
        wake(owner_);
        break;
      case Does::kPush:
        if (items_ >= program_.queue_room) return wait_in(for_room_, index);
        ++items_;
        wake_one(for_item_);
        break;
      case Does::kPop:
        if (items_ <= 0) return wait_in(for_item_, index);
        --items_;
        wake_one(for_room_);
        break;
      case Does::kIo: {
        if (by_cpu() && !settles(index)) return false;
        const double left = !is_virtual() && step.line == is_.line ? 1 - is_.speedup : 1;
        thread.until_ns = now_ns_ + static_cast<int64_t>(static_cast<double>(step.us) * 1000 * left);
        next(thread);
        leave(index, State::kIo);
        return false;
      }
      case Does::kWork: break;
    }
    next(thread);
    return true;
  }

  bool wait_in(std::deque<int>& queue, int index) {
    queue.push_back(index);
    leave(index, State::kBlocked);
    return false;
  }
  void wake_one(std::deque<int>& queue) {
    if (queue.empty()) return;
    wake(queue.front());
    queue.pop_front();
  }

  const Program& program_;
  const Experiment is_;
  const uint32_t cpus_;
  uint64_t global_ = 0;
  std::unique_ptr<CpuClock[]> clocks_;
  Clock clock_;
  std::mt19937_64 random_;
  std::vector<Thread> threads_;
  std::vector<int> running_;
  std::deque<int> ready_, for_lock_, for_item_, for_room_;
  std::vector<int> at_barrier_;
  int owner_ = -1, items_ = 0;
  int64_t now_ns_ = 0;
  uint64_t progress_ = 0;
};

}  // namespace

double time_of_progress(const Program& program, const Experiment& experiment, uint64_t run_us) {
  return Machine(program, experiment).run(run_us);
}

double gain(const Program& program, Experiment experiment, uint64_t run_us) {
  double with = 0, without = 0;
  Experiment baseline = experiment;
  baseline.speedup = 0;
  for (uint64_t seed : {1, 2}) {
    experiment.seed = baseline.seed = seed;
    with += time_of_progress(program, experiment, run_us);
    without += time_of_progress(program, baseline, run_us);
  }
  return 100 * (1 - with / without);
}

}  // namespace stab::causal::simulated
