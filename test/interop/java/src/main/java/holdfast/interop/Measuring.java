package holdfast.interop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.redisson.api.RLock;

/** The workloads of the benchmarks in Node.js, run here by threads. Times are from System.nanoTime(). */
final class Measuring {
  private static final long DRAINED_MS = 5_000;

  private Measuring() {}

  /** Each thread locks and unlocks its own lock for a while. Returns the rate and the latencies. */
  static Map<String, Object> rate(
      Function<String, RLock> lockOf, String name, int threads, long ms, boolean nested)
      throws Exception {
    long start = System.nanoTime();
    long end = start + TimeUnit.MILLISECONDS.toNanos(ms);
    List<long[]> perThread =
        onThreads(
            threads,
            i -> {
              RLock lock = lockOf.apply(name + ":" + i);
              if (nested) lock.lock();
              try {
                return latencies(lock, end);
              } finally {
                if (nested) lock.unlock();
              }
            });
    double seconds = (System.nanoTime() - start) / 1e9;
    long[] all = perThread.stream().flatMapToLong(Arrays::stream).sorted().toArray();
    return Map.of("rate", all.length / seconds, "p50", at(all, 0.5), "p99", at(all, 0.99));
  }

  private static long[] latencies(RLock lock, long end) {
    var builder = java.util.stream.LongStream.builder();
    for (long now = System.nanoTime(); now < end; ) {
      lock.lock();
      lock.unlock();
      long then = System.nanoTime();
      builder.add(then - now);
      now = then;
    }
    return builder.build().toArray();
  }

  private static double at(long[] sorted, double share) {
    if (sorted.length == 0) return 0;
    return sorted[Math.min(sorted.length - 1, (int) (share * sorted.length))] / 1e6;
  }

  /** Threads wait behind this thread, which then unlocks. Returns the gaps between the holders. */
  static Map<String, Object> drain(RLock lock, int threads, long queueMs) throws Exception {
    lock.lock();
    var releasedAt = new AtomicLong();
    List<Double> gaps = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (int i = 0; i < threads; i++) {
        pool.submit(
            () -> {
              lock.lock();
              long now = System.nanoTime();
              gaps.add((now - releasedAt.get()) / 1e6); // only the holder runs this
              releasedAt.set(System.nanoTime());
              lock.unlock();
            });
      }
      Thread.sleep(queueMs);
      long start = System.nanoTime();
      releasedAt.set(start);
      lock.unlock();
      pool.shutdown();
      pool.awaitTermination(DRAINED_MS, TimeUnit.MILLISECONDS);
      double tookMs = (System.nanoTime() - start) / 1e6;
      return Map.of("tookMs", tookMs, "gaps", gaps, "stalled", threads - gaps.size());
    } finally {
      pool.shutdownNow();
    }
  }

  /** Threads take turns until the end. Returns the times of the turns of each thread, and its waits. */
  static List<double[][]> take(RLock lock, int threads, double holdMs, double startMs, double ms)
      throws Exception {
    long start = (long) (startMs * 1e6);
    long end = start + (long) (ms * 1e6);
    return onThreads(
        threads,
        i -> {
          TimeUnit.NANOSECONDS.sleep(start - System.nanoTime());
          List<double[]> turns = new ArrayList<>();
          for (long asked = System.nanoTime(); asked < end; asked = System.nanoTime()) {
            lock.lock();
            long now = System.nanoTime();
            turns.add(new double[] {now / 1e6, (now - asked) / 1e6});
            TimeUnit.NANOSECONDS.sleep((long) (holdMs * 1e6));
            lock.unlock();
          }
          return turns.toArray(double[][]::new);
        });
  }

  private interface Task<T> {
    T run(int index) throws Exception;
  }

  private static <T> List<T> onThreads(int threads, Task<T> task) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<T>> all = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int index = i;
        all.add(() -> task.run(index));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> each : pool.invokeAll(all)) results.add(each.get());
      return results;
    } finally {
      pool.shutdownNow();
    }
  }
}
