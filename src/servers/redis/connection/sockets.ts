interface Inner {
  on(event: string, listener: () => void): void
  stream?: Socket
  connector?: { connect(tell: unknown): Promise<Socket> }
  reconnectTimeout?: { unref?(): void } | null
  socketTimeoutTimer?: NodeJS.Timeout | undefined
}

interface Socket {
  on(event: string, listener: () => void): void
  unref?(): void
}

/**
 * An idle connection, or one that waits to reconnect, must not keep a program alive that is done;
 * and the timer for the silence of a connection must end with it, which in ioredis 5 it does not: it
 * would destroy the next one. ioredis has no options for that, hence its fields.
 */
export function unrefSockets(client: object): void {
  const inner = client as Inner
  inner.on('close', () => {
    clearTimeout(inner.socketTimeoutTimer)
    inner.socketTimeoutTimer = undefined
  })
  inner.on('connect', () => inner.stream?.unref?.())
  inner.on('reconnecting', () => setImmediate(() => inner.reconnectTimeout?.unref?.()).unref())
  handleErrors(inner)
}

/**
 * Node.js may tell twice that a TLS handshake failed, when it was left in the middle: that the certificate is not
 * trusted, and that the server broke it off. ioredis listens once: the second would end the process.
 */
function handleErrors(inner: Inner): void {
  const listen = (socket: Socket) => socket.on('error', () => {})
  if (inner.stream) listen(inner.stream)
  const { connector } = inner
  const connect = connector?.connect
  if (connector === undefined || connect === undefined) return
  connector.connect = async (tell) => {
    const socket = await connect.call(connector, tell)
    listen(socket)
    return socket
  }
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
