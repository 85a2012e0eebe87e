package holdfast.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.time.Duration;
import java.util.List;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** The requests for semaphores. Times are in milliseconds; -1 means no lease. */
final class Semaphores {
  private final Clients clients;

  Semaphores(Clients clients) {
    this.clients = clients;
  }

  Object run(Request request) throws Exception {
    RedissonClient redisson = clients.get(request.text("client"));
    String name = request.texts("names").get(0);
    int permits = (int) request.number("permits", 1);
    return switch (request.text("kind")) {
      case "RSemaphore" -> plain(redisson.getSemaphore(name), permits, request);
      case "RPermitExpirableSemaphore" ->
          expirable(redisson.getPermitExpirableSemaphore(name), permits, request);
      default -> throw new IllegalArgumentException("There is no kind " + request.text("kind"));
    };
  }

  private Object plain(RSemaphore semaphore, int permits, Request request) throws Exception {
    long waitMs = request.number("waitMs", 0);
    return switch (request.text("method")) {
      case "trySetPermits" ->
          request.has("ttlMs")
              ? semaphore.trySetPermits(permits, Duration.ofMillis(request.number("ttlMs", 0)))
              : semaphore.trySetPermits(permits);
      case "addPermits" -> Operations.nothing(() -> semaphore.addPermits(permits));
      case "drainPermits" -> semaphore.drainPermits();
      case "availablePermits" -> semaphore.availablePermits();
      case "acquire" -> Operations.nothing(() -> semaphore.acquire(permits));
      case "tryAcquire" -> semaphore.tryAcquire(permits, waitMs, MILLISECONDS);
      case "release" -> Operations.nothing(() -> semaphore.release(permits));
      case "share" ->
          share(
              request,
              () -> {
                semaphore.acquire(permits);
                return () -> semaphore.release(permits);
              });
      default -> throw new IllegalArgumentException("There is no " + request.text("method"));
    };
  }

  private Object expirable(RPermitExpirableSemaphore semaphore, int permits, Request request)
      throws Exception {
    long waitMs = request.number("waitMs", 0);
    long leaseMs = request.number("leaseMs", -1);
    List<String> ids = request.texts("ids");
    return switch (request.text("method")) {
      case "trySetPermits" -> semaphore.trySetPermits(permits);
      case "setPermits" -> Operations.nothing(() -> semaphore.setPermits(permits));
      case "addPermits" -> Operations.nothing(() -> semaphore.addPermits(permits));
      case "getPermits" -> semaphore.getPermits();
      case "availablePermits" -> semaphore.availablePermits();
      case "acquiredPermits" -> semaphore.acquiredPermits();
      case "acquire" -> semaphore.acquire(permits, leaseMs, MILLISECONDS);
      case "tryAcquire" -> semaphore.tryAcquire(permits, waitMs, leaseMs, MILLISECONDS);
      case "release" -> Operations.nothing(() -> semaphore.release(ids.get(0)));
      case "releaseAll" -> Operations.nothing(() -> semaphore.release(ids));
      case "tryRelease" -> semaphore.tryRelease(ids.get(0));
      case "tryReleaseAll" -> semaphore.tryRelease(ids);
      case "updateLeaseTime" -> semaphore.updateLeaseTime(ids.get(0), leaseMs, MILLISECONDS);
      case "getLeaseTime" -> semaphore.getLeaseTime(ids.get(0));
      case "share" ->
          share(
              request,
              () -> {
                List<String> taken = semaphore.acquire(permits, leaseMs, MILLISECONDS);
                return () -> semaphore.release(taken);
              });
      default -> throw new IllegalArgumentException("There is no " + request.text("method"));
    };
  }

  private Object share(Request request, Sharing.Taking taking) throws Exception {
    var used = clients.get(request.text("client")).getAtomicLong(request.text("used"));
    return Sharing.run(
        taking,
        used,
        request.number("permits", 1),
        (int) request.number("threads", 1),
        (int) request.number("rounds", 1));
  }
}
