interface ErrorSocket {
  on(event: 'error', listener: () => void): void
}

interface IoredisConnector {
  readonly isCluster?: boolean
  readonly connector?: { connect(done: unknown): Promise<ErrorSocket> }
  on(event: '+node', listener: (node: object) => void): void
}

/**
 * Adds an error listener to each socket that the client opens from now on. Node.js may report an
 * interrupted TLS handshake twice, but ioredis listens only once. Without a listener, the second
 * report would end the process.
 */
export function handleSocketErrors(client: object): void {
  const inner = client as IoredisConnector
  if (inner.isCluster) inner.on('+node', handleSocketErrors)
  const { connector } = inner
  const connect = connector?.connect
  if (connector === undefined || connect === undefined) return
  connector.connect = async (done) => {
    const socket = await connect.call(connector, done)
    socket.on('error', () => {})
    return socket
  }
}
