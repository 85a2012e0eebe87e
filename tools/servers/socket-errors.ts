interface Socket {
  on(event: 'error', listener: () => void): void
}

interface Inner {
  readonly isCluster?: boolean
  readonly connector?: { connect(tell: unknown): Promise<Socket> }
  on(event: '+node', listener: (node: object) => void): void
}

/**
 * Adds an error listener to each socket of a client that is not connected yet. Node.js may report
 * an interrupted TLS handshake twice, and ioredis listens only once. Without this listener, the
 * second report would end the process.
 */
export function handleSocketErrors(client: object): void {
  const inner = client as Inner
  if (inner.isCluster) inner.on('+node', handleSocketErrors)
  const { connector } = inner
  const connect = connector?.connect
  if (connector === undefined || connect === undefined) return
  connector.connect = async (tell) => {
    const socket = await connect.call(connector, tell)
    socket.on('error', () => {})
    return socket
  }
}
