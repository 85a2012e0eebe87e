package holdfast.interop;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.redisson.api.RLock;

/** Threads that count in a plain file under a lock. Two threads that overlap lose a count. */
final class Counting {
  private Counting() {}

  /** Returns how often each thread held the lock. */
  static List<Integer> run(Supplier<RLock> lockOf, Path file, int workers, int rounds)
      throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(workers);
    try {
      Callable<Integer> worker =
          () -> {
            RLock lock = lockOf.get();
            for (int round = 0; round < rounds; round++) {
              lock.lock();
              try {
                countOne(file);
              } finally {
                lock.unlock();
              }
            }
            return rounds;
          };
      List<Integer> counts = new ArrayList<>();
      List<Callable<Integer>> all = new ArrayList<>();
      for (int i = 0; i < workers; i++) all.add(worker);
      for (Future<Integer> each : pool.invokeAll(all)) counts.add(each.get());
      return counts;
    } finally {
      pool.shutdownNow();
    }
  }

  private static void countOne(Path file) throws Exception {
    String text = Files.readString(file).trim(); // Empty while another thread writes, which is an overlap.
    long count = text.isEmpty() ? 0 : Long.parseLong(text);
    Thread.sleep(1);
    Files.writeString(file, Long.toString(count + 1));
  }
}
