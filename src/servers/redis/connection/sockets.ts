/**
 * An idle connection, or one that waits to reconnect, must not keep a program alive that is done;
 * and the timer for the silence of a connection must end with it, which in ioredis 5 it does not: it
 * would destroy the next one. ioredis has no options for that, hence its fields.
 */
export function tameSockets(client: object): void {
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

/**
 * The same for a client of one server, and for those that it asks where the server is. Once it is
 * connected its calls have deadlines of their own, and ioredis need not set a timer for each.
 */
export function tameClient(client: object): void {
  tameSockets(client)
  const inner = client as {
    on(event: string, listener: () => void): void
    setSocketTimeout?: () => void
  }
  inner.on('ready', () => {
    inner.setSocketTimeout = () => {}
  })
  inner.on('close', () => {
    delete inner.setSocketTimeout
  })
  tameSentinels(client)
}

interface SentinelConnector {
  failoverDetector?: { cleanup(): void } | null
  connectToSentinel?(endpoint: object, options?: object): Sentinel
}

interface Sentinel {
  on(event: string, listener: () => void): void
  subscribe?(channel: string): Promise<unknown>
}

/**
 * The same for the connections to Sentinels, on which ioredis asks for the master and is told of
 * another one. What fails with them is tried again, and told where no Sentinel can be asked. ioredis
 * makes those that listen anew with each connection, and otherwise ends them neither with one that
 * broke, which is then ended once more by what they tell, nor with one that is closed before it is made.
 */
function tameSentinels(client: object): void {
  const { connector } = client as { connector?: SentinelConnector }
  const connect = connector?.connectToSentinel
  if (connector === undefined || connect === undefined) return
  connector.connectToSentinel = (endpoint, options) => {
    const sentinel = connect.call(connector, endpoint, { ...options, disconnectTimeout: 100 })
    sentinel.on('error', () => {})
    tameSockets(sentinel)
    // ioredis asks once, and gives up when it was in vain for a while.
    const listens = options !== undefined && 'lazyConnect' in options
    const listen = () => void sentinel.subscribe?.('+switch-master').catch(() => {})
    if (listens) sentinel.on('ready', listen)
    return sentinel
  }
  const inner = client as { on(event: string, listener: () => void): void }
  inner.on('close', () => connector.failoverDetector?.cleanup())
}

/** The same for the connections on which a cluster client listens to sharded channels. */
export function tameShards(cluster: object): void {
  const { shardedSubscribers } = cluster as {
    shardedSubscribers?: { shardedSubscribers?: Map<string, { getInstance(): object | null }> }
  }
  for (const shard of shardedSubscribers?.shardedSubscribers?.values() ?? []) {
    const client = shard.getInstance()
    if (client === null || tamed.has(client)) continue
    tamed.add(client)
    tameSockets(client)
  }
}

const tamed = new WeakSet<object>()
