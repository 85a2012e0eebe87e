import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Holdfast, type Lease, type RenewFact } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { sharedServer } from '../support/redis-server.ts'

const RENEWING = 'tracing:holdfast:renew:start'
const LOCKS = 3_000

const server = sharedServer()

test('thousands of leases are renewed in portions, so that the event loop is not blocked', async () => {
  const client = new Holdfast({ redis: server.url, leaseMs: 9_000 })
  const lost: unknown[] = []
  client.on('lost', (event) => lost.push(event))
  const leases: Lease[] = []
  while (leases.length < LOCKS) {
    const some = Array.from({ length: 100 }, (_, i) =>
      client.getLock(`many:${leases.length + i}`).lock(),
    )
    leases.push(...(await Promise.all(some)))
  }
  let mostInOneTurn = 0
  let inThisTurn = 0
  let renewed = 0
  const onRenewing = (message: unknown) => {
    const { holds } = message as RenewFact
    // Runs after the code of this turn.
    if (inThisTurn === 0) {
      process.nextTick(() => {
        mostInOneTurn = Math.max(mostInOneTurn, inThisTurn)
        inThisTurn = 0
      })
    }
    inThisTurn += holds
    renewed += holds
  }
  subscribe(RENEWING, onRenewing)
  await eventually(() => renewed >= 2 * LOCKS, { timeoutMs: 20_000, message: 'two rounds' })
  unsubscribe(RENEWING, onRenewing)
  expect(mostInOneTurn).toBeLessThanOrEqual(500)
  expect(lost).toEqual([])
  expect(leases.every(({ valid }) => valid)).toBe(true)
  await client.close()
})
