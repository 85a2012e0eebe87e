package holdfast.interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** Threads by name. The work for one name runs one task after the other, on one thread. */
final class Threads {
  private final Map<String, Executor> executors = new ConcurrentHashMap<>();

  Executor get(String name) {
    return executors.computeIfAbsent(
        name,
        key ->
            Executors.newSingleThreadExecutor(
                task -> {
                  var thread = new Thread(task, key);
                  thread.setDaemon(true);
                  return thread;
                }));
  }
}
