import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import { startTlsPlace } from '../support/places/tls.ts'
import { deafTo, watchTls } from '../support/tls-sockets.ts'

test('a client that is closed in the middle of a TLS handshake does no harm', async () => {
  const { port } = await startTlsPlace()
  const sockets = watchTls()
  for (let i = 0; i < 40; i += 1) {
    const client = new Holdfast({ redis: { host: '127.0.0.1', port, tls: {} }, outageMs: 300 })
    client.on('error', () => {})
    const asked = expect(client.getLock('it').tryLock(50)).rejects.toThrow()
    await pause(Math.random() * 4) // the client is closed at any moment of the handshake, because this is the subject
    await client.close()
    await asked
  }
  expect(sockets.length).toBeGreaterThan(20)
  expect(await deafTo(sockets)).toBe(0)
})
