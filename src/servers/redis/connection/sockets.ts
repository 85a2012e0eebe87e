interface IoredisClient {
  on(event: string, listener: () => void): void
  stream?: IdleSocket
  connector?: { connect(done: unknown): Promise<IdleSocket> }
  reconnectTimeout?: { unref?(): void } | null
  socketTimeoutTimer?: NodeJS.Timeout | undefined
}

interface IdleSocket {
  on(event: string, listener: () => void): void
  unref?(): void
}

/**
 * Lets a finished program exit while a connection is idle or waits to reconnect. Uses fields of
 * ioredis, because ioredis has no option for this.
 *
 * Also stops the socket timer when a socket closes. ioredis 5 would leave the timer running, and
 * the timer would destroy the next socket.
 */
export function unrefSockets(client: object): void {
  const inner = client as IoredisClient
  inner.on('close', () => {
    clearTimeout(inner.socketTimeoutTimer)
    inner.socketTimeoutTimer = undefined
  })
  inner.on('connect', () => inner.stream?.unref?.())
  inner.on('reconnecting', () => setImmediate(() => inner.reconnectTimeout?.unref?.()).unref())
  handleErrors(inner)
}

/**
 * Ignores the second error of a socket. After a broken TLS handshake, Node.js may report two
 * errors, but ioredis handles only the first. The second error would end the process.
 */
function handleErrors(inner: IoredisClient): void {
  const listen = (socket: IdleSocket) => socket.on('error', () => {})
  if (inner.stream) listen(inner.stream)
  const { connector } = inner
  const connect = connector?.connect
  if (connector === undefined || connect === undefined) return
  connector.connect = async (done) => {
    const socket = await connect.call(connector, done)
    listen(socket)
    return socket
  }
}

/** Applies `unrefSockets` to the connections of a cluster client to sharded channels. */
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
