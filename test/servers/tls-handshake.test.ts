import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import { startTlsPlace } from '../support/places/tls.ts'

test('a client that trusts nobody and is closed in the middle of a handshake harms nothing', async () => {
  const { port } = await startTlsPlace()
  const told: string[] = []
  for (let i = 0; i < 40; i += 1) {
    const client = new Holdfast({ redis: { host: '127.0.0.1', port, tls: {} }, outageMs: 300 })
    client.on('error', ({ message }) => told.push(message))
    const asked = client.getLock('it').tryLock(50)
    asked.catch(() => {})
    await pause(Math.random() * 4) // where in the handshake it is closed, is the subject
    await client.close()
    await expect(asked).rejects.toThrow()
  }
  // What the last one hears comes when it is closed; an error that nobody handles fails the test.
  await pause(100)
  expect(told.join()).not.toMatch(/decode/)
})
