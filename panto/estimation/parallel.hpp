// Independent pieces of work on all cores.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <functional>
#include <mutex>

namespace panto {

// work(i) for i = 0 … count - 1; threads 0: as many as there are. progress(share done) may end it early by returning false: then the result is false.
template <class Work>
bool for_all(int count, int threads, const std::function<bool(double)>& progress, Work&& work) {
  std::atomic<int> done = 0;
  std::atomic<bool> ended = false;
  std::mutex speaking;
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(0, count, [&](int i) {
      if (ended) return;
      work(i);
      const double finished = ++done / static_cast<double>(count);
      const std::unique_lock lock(speaking, std::try_to_lock);
      if (lock.owns_lock() && progress && !progress(finished)) ended = true;
    });
  });
  return !ended;
}

}  // namespace panto
