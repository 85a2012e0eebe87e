package holdfast.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.redisson.api.RAtomicLong;

/** Threads that take permits, and count how many permits all processes use at the same time. */
final class Sharing {
  private Sharing() {}

  interface Work {
    void run() throws Exception;
  }

  /** Takes permits, and returns the work that gives them back. */
  interface Taking {
    Work run() throws Exception;
  }

  /** Returns the maximum number of permits in use at the same time, as these threads saw it. */
  static long run(Taking taking, RAtomicLong used, long permits, int threads, int rounds)
      throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      Callable<Long> thread =
          () -> {
            long most = 0;
            for (int round = 0; round < rounds; round++) {
              Work giveBack = taking.run();
              most = Math.max(most, used.addAndGet(permits));
              Thread.sleep(2);
              used.addAndGet(-permits);
              giveBack.run();
            }
            return most;
          };
      List<Callable<Long>> all = new ArrayList<>();
      for (int i = 0; i < threads; i++) all.add(thread);
      long most = 0;
      for (Future<Long> each : pool.invokeAll(all)) most = Math.max(most, each.get());
      return most;
    } finally {
      pool.shutdownNow();
    }
  }
}
