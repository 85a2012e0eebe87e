import { connect, createServer, type Server, type Socket } from 'node:net'
import { allow, openSocket } from './allowances.ts'
import { atEnd } from './lifetime.ts'
import { freePort } from './ports.ts'

/** The address of a server. */
interface Place {
  readonly host: string
  readonly port: number
}

/**
 * An address that leads to one server and later to another server, like the address of a proxy or of a service. Open
 * connections stay at their server. The address ends with the test that started it.
 */
export class Address implements Place {
  readonly host = '127.0.0.1'
  readonly port: number
  /** The number of connections that clients have opened to this address. */
  connections = 0
  readonly #sockets = new Set<Socket>()
  #leadsTo: Place

  constructor(server: Server, port: number, leadsTo: Place) {
    this.port = port
    this.#leadsTo = leadsTo
    const withdrawals = [
      allow('TCPServerWrap', () => (server.listening ? 1 : 0)),
      allow('TCPSocketWrap', () => [...this.#sockets].reduce((n, one) => n + openSocket(one), 0)),
    ]
    server.on('connection', (socket) => this.#pass(socket))
    atEnd(async () => {
      for (const socket of this.#sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      for (const withdraw of withdrawals) withdraw()
    })
  }

  /** New connections lead to this server. */
  switchTo(place: Place): void {
    this.#leadsTo = place
  }

  /** Cuts all connections through this address. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #pass(socket: Socket): void {
    this.connections += 1
    const { host, port } = this.#leadsTo
    const other = connect({ host, port, allowHalfOpen: true })
    for (const [one, peer] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(one)
      one.setNoDelay(true).pipe(peer)
      one.on('error', () => undefined) // 'close' follows
      one.on('close', () => {
        this.#sockets.delete(one)
        peer.destroy()
      })
    }
  }
}

export async function startAddress(leadsTo: Place): Promise<Address> {
  const [server, port] = [createServer({ allowHalfOpen: true }), await freePort()]
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return new Address(server, port, leadsTo)
}
