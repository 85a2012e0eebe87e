package holdfast.interop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.ExpiredObjectListener;
import org.redisson.api.RLock;

/** Listeners of locks, which Redis calls through keyspace events. Counts the calls of each listener. */
final class Listeners {
  private record Heard(AtomicInteger deleted, AtomicInteger expired, List<Integer> ids) {}

  private final Clients clients;
  private final Map<String, Heard> all = new ConcurrentHashMap<>();

  Listeners(Clients clients) {
    this.clients = clients;
  }

  Object listen(Request request) {
    RLock lock = clients.lock(request);
    var deleted = new AtomicInteger();
    var expired = new AtomicInteger();
    int first = lock.addListener((DeletedObjectListener) name -> deleted.incrementAndGet());
    int second = lock.addListener((ExpiredObjectListener) name -> expired.incrementAndGet());
    all.put(request.texts("names").get(0), new Heard(deleted, expired, List.of(first, second)));
    return null;
  }

  Object heard(Request request) {
    Heard heard = all.get(request.texts("names").get(0));
    return Map.of("deleted", heard.deleted.get(), "expired", heard.expired.get());
  }

  void unlisten(Request request) {
    RLock lock = clients.lock(request);
    for (int id : all.get(request.texts("names").get(0)).ids) lock.removeListener(id);
  }
}
