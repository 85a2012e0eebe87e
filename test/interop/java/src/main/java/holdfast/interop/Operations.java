package holdfast.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.nio.file.Path;
import java.util.Map;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.client.codec.StringCodec;

/** The operations of requests. Times are in milliseconds; a lease of -1 is renewed by the watchdog. */
final class Operations {
  private final Clients clients = new Clients();
  private final Semaphores semaphores = new Semaphores(clients);
  private final Listeners listeners = new Listeners(clients);

  Object run(Request request) throws Exception {
    long waitMs = request.number("waitMs", -1);
    long leaseMs = request.number("leaseMs", -1);
    return switch (request.text("op")) {
      case "open" -> clients.open(request);
      case "shutdown" -> nothing(() -> clients.shutdown(request.text("client")));
      case "threadId" -> Thread.currentThread().getId();
      case "fields" -> fields(request);

      case "lock" -> nothing(() -> lock(lockOf(request), leaseMs));
      case "tryLock" -> tryLock(lockOf(request), waitMs, leaseMs);
      case "unlock" -> nothing(() -> lockOf(request).unlock());
      case "forceUnlock" -> lockOf(request).forceUnlock();
      case "isLocked" -> lockOf(request).isLocked();
      case "isHeldByCurrentThread" -> lockOf(request).isHeldByCurrentThread();
      case "getHoldCount" -> lockOf(request).getHoldCount();
      case "remainTimeToLive" -> lockOf(request).remainTimeToLive();

      case "lockAndGetToken" -> fencedLockOf(request).lockAndGetToken();
      case "tryLockAndGetToken" -> tryForToken(fencedLockOf(request), waitMs, leaseMs);
      case "getToken" -> fencedLockOf(request).getToken();

      case "trySetCount" -> latchOf(request).trySetCount(request.number("count", 0));
      case "countDown" -> nothing(() -> latchOf(request).countDown());
      case "getCount" -> latchOf(request).getCount();
      case "await" -> await(latchOf(request), waitMs);
      case "deleteLatch" -> latchOf(request).delete();
      case "semaphore" -> semaphores.run(request);

      case "listen" -> listeners.listen(request);
      case "heard" -> listeners.heard(request);
      case "unlisten" -> nothing(() -> listeners.unlisten(request));

      case "count" -> count(request);
      case "pairs" -> pairs(request);
      case "rate" -> rate(request);
      case "limit" -> limit(request);
      case "drain" -> drain(request);
      case "take" -> take(request);
      default -> throw new IllegalArgumentException("There is no " + request.text("op"));
    };
  }

  private Object limit(Request request) throws Exception {
    return Limiting.run(
        clients.get(request.text("client")).getRateLimiter(request.texts("names").get(0)),
        request.number("permits", 1),
        request.number("perMs", 1_000),
        (int) request.number("workers", 1),
        request.number("forMs", 1_000),
        request.number("pauseMs", 0));
  }

  private RLock lockOf(Request request) {
    return clients.lock(request);
  }

  private RFencedLock fencedLockOf(Request request) {
    return (RFencedLock) clients.lock(request);
  }

  private RCountDownLatch latchOf(Request request) {
    return clients.get(request.text("client")).getCountDownLatch(request.texts("names").get(0));
  }

  private static boolean await(RCountDownLatch latch, long waitMs) throws Exception {
    if (waitMs >= 0) return latch.await(waitMs, MILLISECONDS);
    latch.await();
    return true;
  }

  private static void lock(RLock lock, long leaseMs) {
    if (leaseMs < 0) lock.lock();
    else lock.lock(leaseMs, MILLISECONDS);
  }

  private static boolean tryLock(RLock lock, long waitMs, long leaseMs) throws Exception {
    return waitMs < 0 && leaseMs < 0 ? lock.tryLock() : lock.tryLock(waitMs, leaseMs, MILLISECONDS);
  }

  private static Long tryForToken(RFencedLock lock, long waitMs, long leaseMs) {
    if (waitMs < 0 && leaseMs < 0) return lock.tryLockAndGetToken();
    return lock.tryLockAndGetToken(waitMs, leaseMs, MILLISECONDS);
  }

  /** Returns the hash of a lock, as Redisson's map reads it. */
  private Map<String, String> fields(Request request) {
    var redisson = clients.get(request.text("client"));
    return redisson
        .<String, String>getMap(request.texts("names").get(0), StringCodec.INSTANCE)
        .readAllMap();
  }

  private Object count(Request request) throws Exception {
    int workers = (int) request.number("workers", 1);
    int rounds = (int) request.number("rounds", 1);
    return Counting.run(() -> lockOf(request), Path.of(request.text("file")), workers, rounds);
  }

  private Object pairs(Request request) throws Exception {
    var redisson = clients.get(request.text("client"));
    return Pairs.run(
        () -> redisson.getReadWriteLock(request.texts("names").get(0)),
        request.texts("files").stream().map(Path::of).toList(),
        (int) request.number("writers", 1),
        (int) request.number("readers", 1),
        (int) request.number("rounds", 1));
  }

  private Object rate(Request request) throws Exception {
    return Measuring.rate(
        name -> clients.lock(request.named(name)),
        request.texts("names").get(0),
        (int) request.number("threads", 1),
        request.number("ms", 1_000),
        request.has("nested"));
  }

  private Object drain(Request request) throws Exception {
    int threads = (int) request.number("threads", 1);
    return Measuring.drain(lockOf(request), threads, request.number("queueMs", 0));
  }

  private Object take(Request request) throws Exception {
    int threads = (int) request.number("threads", 1);
    double holdMs = request.decimal("holdMs");
    double startMs = request.decimal("startMs");
    return Measuring.take(lockOf(request), threads, holdMs, startMs, request.decimal("ms"));
  }

  interface Work {
    void run() throws Exception;
  }

  static Object nothing(Work work) throws Exception {
    work.run();
    return null;
  }
}
