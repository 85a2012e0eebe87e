interface Socket {
  on(event: 'error', listener: () => void): void
}

interface Inner {
  readonly isCluster?: boolean
  readonly connector?: { connect(tell: unknown): Promise<Socket> }
  on(event: '+node', listener: (node: object) => void): void
}

/**
 * Node.js may tell twice that a TLS handshake failed, when it was left in the middle; ioredis listens once, and the
 * second would end the process. To be called before the client connects.
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
