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
import org.redisson.config.ShardedSubscriptionMode;

/** The Redisson clients that are open, by name, and their locks. */
final class Clients {
  private final Map<String, RedissonClient> clients = new ConcurrentHashMap<>();

  RedissonClient get(String name) {
    RedissonClient client = clients.get(name);
    if (client == null) throw new IllegalArgumentException("There is no client " + name);
    return client;
  }

  /** Opens a client. All settings that are not asked for are Redisson's own. */
  String open(Request request) throws Exception {
    var config = new Config();
    if (request.has("watchdogMs")) config.setLockWatchdogTimeout(request.number("watchdogMs", 0));
    long port = request.number("port", 0);
    BaseConfig<?> servers;
    if (request.has("sharded")) {
      var mode = ShardedSubscriptionMode.valueOf(request.text("sharded"));
      servers =
          config
              .useClusterServers()
              .setShardedSubscriptionMode(mode)
              .addNodeAddress("redis://127.0.0.1:" + port);
    } else {
      servers = config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
    }
    if (request.has("prefix")) setPrefix(servers, request.text("prefix"));
    RedissonClient client = Redisson.create(config);
    clients.put(request.text("client"), client);
    return client.getId();
  }

  void shutdown(String name) {
    clients.remove(name).shutdown();
  }

  RLock lock(Request request) {
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
      case "RMultiLock" -> on.get(0).getMultiLock(locks(on.get(0), names));
      case "RedissonRedLock" -> redLock(on, names.get(0));
      default -> throw new IllegalArgumentException("There is no kind " + request.text("kind"));
    };
  }

  private static RLock[] locks(RedissonClient client, List<String> names) {
    return names.stream().map(client::getLock).toArray(RLock[]::new);
  }

  @SuppressWarnings("deprecation") // By Redisson; it is in use all the same.
  private static RLock redLock(List<RedissonClient> on, String name) {
    return new RedissonRedLock(on.stream().map(each -> each.getLock(name)).toArray(RLock[]::new));
  }

  /** Sets a NameMapper, whose package is not the same in all releases. */
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
