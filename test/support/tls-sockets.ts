import tls, { type TLSSocket } from 'node:tls'
import { eventually } from './eventually.ts'

/** All TLS sockets that are opened from now on. */
export function watchTls(): readonly TLSSocket[] {
  const sockets: TLSSocket[] = []
  const { connect } = tls
  jest.spyOn(tls, 'connect').mockImplementation(((...args: Parameters<typeof connect>) => {
    const socket = connect(...args)
    sockets.push(socket)
    return socket
  }) as typeof connect)
  return sockets
}

/** How many of them have no listener for an error when they are closed: one that came would end the process. */
export async function deafTo(sockets: readonly TLSSocket[]): Promise<number> {
  await eventually(() => sockets.every(({ closed }) => closed))
  return sockets.filter((socket) => socket.listenerCount('error') === 0).length
}
