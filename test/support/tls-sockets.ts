import tls, { type TLSSocket } from 'node:tls'
import { eventually } from './eventually.ts'

/** Returns a list that receives each TLS socket that this process opens from now on. */
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

/**
 * Waits until all sockets are closed. Returns how many have no listener for errors: a later error would end the
 * process.
 */
export async function deafTo(sockets: readonly TLSSocket[]): Promise<number> {
  await eventually(() => sockets.every(({ closed }) => closed))
  return sockets.filter((socket) => socket.listenerCount('error') === 0).length
}
