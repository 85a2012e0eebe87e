import { setTimeout as pause } from 'node:timers/promises'
import { openClient } from '../../tools/history/open-client.ts'
import { openServer } from '../../tools/servers/open-server.ts'
import { startTlsPlace } from '../support/places/tls.ts'
import { deafTo, watchTls } from '../support/tls-sockets.ts'

test('every socket that is left during a TLS handshake with an untrusted server has a listener for errors', async () => {
  const { port } = await startTlsPlace()
  const sockets = watchTls()
  const host = '127.0.0.1'
  const nothing = { ca: undefined, cert: undefined, key: undefined }
  const login = { user: undefined, pass: undefined }
  const endpoint = { host, port, path: undefined, database: 0, login, tls: nothing }
  for (let i = 0; i < 40; i += 1) {
    const client = openClient({ host, port, tls: {} }, null)
    const connected = client.connect().catch(() => undefined)
    const asked = expect(openServer(endpoint, 1 + Math.random() * 4)).rejects.toThrow()
    await pause(Math.random() * 4) // the connection ends at any moment of the handshake, because this is the subject
    client.disconnect()
    await Promise.all([connected, asked])
  }
  expect(sockets.length).toBeGreaterThan(40)
  expect(await deafTo(sockets)).toBe(0)
})
