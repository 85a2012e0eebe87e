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
 * Prepares the sockets of a client. An idle connection, or a connection that waits to reconnect,
 * must not keep a finished program alive. Because ioredis has no options for this, the function
 * uses fields of ioredis.
 *
 * Also, ioredis 5 does not end the silence timer of a socket with the socket. The timer would
 * destroy the next socket.
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
 * Ignores further errors of a socket. If a TLS handshake breaks off, Node.js may report two errors:
 * the certificate is not trusted, and the server closed the connection. Because ioredis handles
 * only the first error, the second would end the process.
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
