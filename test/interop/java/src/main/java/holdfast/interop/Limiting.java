package holdfast.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateIntervalUnit;
import org.redisson.api.RateType;

/** Threads that try to get permits of one rate limiter. */
final class Limiting {
  private Limiting() {}

  /** Returns how many calls the threads made, and when each grant arrived, in ns of System.nanoTime(). */
  @SuppressWarnings("deprecation") // The newer method does not exist in older releases.
  static Map<String, Object> run(
      RRateLimiter limiter, long permits, long perMs, int workers, long forMs, long pauseMs)
      throws Exception {
    limiter.trySetRate(RateType.OVERALL, permits, perMs, RateIntervalUnit.MILLISECONDS);
    ExecutorService pool = Executors.newFixedThreadPool(workers);
    AtomicLong calls = new AtomicLong();
    long until = System.nanoTime() + forMs * 1_000_000;
    Callable<List<Long>> worker =
        () -> {
          List<Long> granted = new ArrayList<>();
          while (System.nanoTime() < until) {
            calls.incrementAndGet();
            if (limiter.tryAcquire()) granted.add(System.nanoTime());
            if (pauseMs > 0) Thread.sleep(pauseMs);
          }
          return granted;
        };
    try {
      List<Callable<List<Long>>> all = new ArrayList<>();
      for (int i = 0; i < workers; i++) all.add(worker);
      List<Long> granted = new ArrayList<>();
      for (Future<List<Long>> each : pool.invokeAll(all)) granted.addAll(each.get());
      return Map.of("calls", calls.get(), "granted", granted);
    } finally {
      pool.shutdownNow();
    }
  }
}
