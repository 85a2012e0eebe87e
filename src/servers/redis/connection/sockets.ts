/**
 * An idle connection, or one that waits to reconnect, must not keep a program alive that is done;
 * and the timer for the silence of a connection must end with it, which in ioredis 5 it does not: it
 * would destroy the next one. ioredis has no options for that, hence its fields.
 */
export function unrefSockets(client: object): void {
  const inner = client as {
    on(event: string, listener: () => void): void
    stream?: { unref?(): void }
    reconnectTimeout?: { unref?(): void } | null
    socketTimeoutTimer?: NodeJS.Timeout | undefined
  }
  inner.on('close', () => {
    clearTimeout(inner.socketTimeoutTimer)
    inner.socketTimeoutTimer = undefined
  })
  inner.on('connect', () => inner.stream?.unref?.())
  inner.on('reconnecting', () => setImmediate(() => inner.reconnectTimeout?.unref?.()).unref())
}

/** The same for the connections on which a cluster client listens to sharded channels. */
export function unrefShards(cluster: object): void {
  const { shardedSubscribers } = cluster as {
    shardedSubscribers?: { shardedSubscribers?: Map<string, { getInstance(): object | null }> }
  }
  for (const shard of shardedSubscribers?.shardedSubscribers?.values() ?? []) {
    const client = shard.getInstance()
    if (client === null || seen.has(client)) continue
    seen.add(client)
    unrefSockets(client)
  }
}

const seen = new WeakSet<object>()
