package holdfast.interop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.MasterSlaveServersConfig;
import org.redisson.config.ReadMode;
import org.redisson.config.ShardedSubscriptionMode;
import org.redisson.config.SingleServerConfig;

/** The Redisson clients that are open, by name, and their locks. */
final class Clients {
  private final Map<String, RedissonClient> clients = new ConcurrentHashMap<>();
  private final Map<String, RLock> objects = new ConcurrentHashMap<>();

  RedissonClient get(String name) {
    RedissonClient client = clients.get(name);
    if (client == null) throw new IllegalArgumentException("There is no client " + name);
    return client;
  }

  /** Opens a client. Settings that are not in the request have Redisson's defaults. */
  String open(Request request) throws Exception {
    var config = new Config();
    if (request.has("watchdogMs")) config.setLockWatchdogTimeout(request.number("watchdogMs", 0));
    String address = "redis://127.0.0.1:" + request.number("port", 0);
    int database = (int) request.number("database", 0);
    BaseConfig<?> servers;
    if (request.has("sharded")) {
      var mode = ShardedSubscriptionMode.valueOf(request.text("sharded"));
      servers = config.useClusterServers().setShardedSubscriptionMode(mode).addNodeAddress(address);
    } else if (request.has("replicas")) {
      MasterSlaveServersConfig master = config.useMasterSlaveServers().setMasterAddress(address);
      for (String replica : request.texts("replicas")) master.addSlaveAddress(replica);
      servers = master.setReadMode(ReadMode.MASTER).setDatabase(database);
    } else {
      SingleServerConfig server = config.useSingleServer().setAddress(address);
      server.setDatabase(database);
      if (request.has("subscriptions")) {
        int most = (int) request.number("subscriptions", 1);
        server.setSubscriptionConnectionPoolSize(most).setSubscriptionConnectionMinimumIdleSize(1);
        server.setSubscriptionsPerConnection(1);
      }
      servers = server;
    }
    if (request.has("timeoutMs")) servers.setTimeout((int) request.number("timeoutMs", 0));
    if (request.has("prefix")) setPrefix(servers, request.text("prefix"));
    RedissonClient client = Redisson.create(config);
    clients.put(request.text("client"), client);
    return client.getId();
  }

  void shutdown(String name) {
    clients.remove(name).shutdown();
  }

  /**
   * Returns the lock of the request. With "object", this is the lock object that an earlier request made under this
   * word. An RLock remembers the lease of its last acquisition, and uses it for the rest of the hold after an unlock.
   */
  RLock lock(Request request) {
    if (!request.has("object")) return newLock(request);
    return objects.computeIfAbsent(request.text("object"), key -> newLock(request));
  }

  private RLock newLock(Request request) {
    List<String> names = request.texts("names");
    List<RedissonClient> on =
        Stream.of(request.text("client").split(",")).map(this::get).toList();
    return switch (request.text("kind", "RLock")) {
      case "RLock" -> on.get(0).getLock(names.get(0));
      case "RFencedLock" -> on.get(0).getFencedLock(names.get(0));
      case "RFairLock" -> on.get(0).getFairLock(names.get(0));
      case "RSpinLock" -> on.get(0).getSpinLock(names.get(0));
      case "RReadWriteLock.readLock" -> on.get(0).getReadWriteLock(names.get(0)).readLock();
      case "RReadWriteLock.writeLock" -> on.get(0).getReadWriteLock(names.get(0)).writeLock();
      case "RMultiLock" -> on.get(0).getMultiLock(locks(on, names));
      case "RedissonRedLock" -> redLock(on, names.get(0));
      default -> throw new IllegalArgumentException("There is no kind " + request.text("kind"));
    };
  }

  /** Returns a lock for each name at each client. */
  private static RLock[] locks(List<RedissonClient> on, List<String> names) {
    return on.stream().flatMap(each -> names.stream().map(each::getLock)).toArray(RLock[]::new);
  }

  @SuppressWarnings("deprecation") // deprecated by Redisson, but still used by programs
  private static RLock redLock(List<RedissonClient> on, String name) {
    return new RedissonRedLock(on.stream().map(each -> each.getLock(name)).toArray(RLock[]::new));
  }

  /** Sets a NameMapper. Its package differs between releases. */
  private static void setPrefix(BaseConfig<?> servers, String prefix) throws Exception {
    for (Method setter : BaseConfig.class.getMethods()) {
      if (!setter.getName().equals("setNameMapper")) continue;
      Class<?> type = setter.getParameterTypes()[0];
      Object mapper =
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (proxy, method, args) -> {
                String name = (String) args[0];
                return method.getName().equals("map")
                    ? prefix + name
                    : name.substring(prefix.length());
              });
      setter.invoke(servers, mapper);
    }
  }
}
