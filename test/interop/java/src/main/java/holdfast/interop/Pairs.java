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
import org.redisson.api.RReadWriteLock;

/**
 * Threads that count in two plain files, one after the other, under the write lock. Other threads compare the files
 * under the read lock. A reader that overlaps with a writer finds that the files differ.
 */
final class Pairs {
  private Pairs() {}

  /** Returns the number of writes, and how often a reader found that the files differ. */
  static List<Integer> run(
      Supplier<RReadWriteLock> lockOf, List<Path> files, int writers, int readers, int rounds)
      throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(writers + readers);
    try {
      List<Callable<Integer>> writing = new ArrayList<>();
      List<Callable<Integer>> reading = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        writing.add(() -> under(lockOf.get().writeLock(), () -> writeBoth(files), rounds));
      }
      for (int i = 0; i < readers; i++) {
        reading.add(() -> under(lockOf.get().readLock(), () -> isTorn(files), rounds));
      }
      List<Future<Integer>> written = writing.stream().map(pool::submit).toList();
      List<Future<Integer>> torn = reading.stream().map(pool::submit).toList();
      return List.of(sum(written), sum(torn));
    } finally {
      pool.shutdownNow();
    }
  }

  private static int under(RLock lock, Callable<Boolean> work, int rounds) throws Exception {
    int count = 0;
    for (int round = 0; round < rounds; round++) {
      lock.lock();
      try {
        if (work.call()) count++;
      } finally {
        lock.unlock();
      }
    }
    return count;
  }

  private static boolean writeBoth(List<Path> files) throws Exception {
    for (Path file : files) {
      String text = Files.readString(file); // Empty while another thread writes, which is an overlap.
      long count = text.isEmpty() ? 0 : Long.parseLong(text);
      Thread.sleep(1);
      Files.writeString(file, Long.toString(count + 1));
    }
    return true;
  }

  private static boolean isTorn(List<Path> files) throws Exception {
    String first = Files.readString(files.get(0));
    Thread.sleep(1);
    return !first.equals(Files.readString(files.get(1)));
  }

  private static int sum(List<Future<Integer>> counts) throws Exception {
    int sum = 0;
    for (Future<Integer> each : counts) sum += each.get();
    return sum;
  }
}
