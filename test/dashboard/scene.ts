import { FakeInspection, processOf } from './fake-inspection.ts'

const CLIENT = 'V1StGXR8_Z5jdHi6B-myT'

/** A shop with a queue, a report that takes hours, a Java service without an expiry, readers, and many idle locks. */
export function scene(): FakeInspection {
  const locks = new FakeInspection()
  locks.set('shop:order:1001', {
    holders: [{ owner: `${CLIENT}:1`, process: processOf('checkout'), ageMs: 94_200 }],
    queue: [
      { owner: 'w1', process: processOf('checkout', 'web-2', 812), waitedMs: 83_100 },
      { owner: 'w2', process: processOf('invoices', 'job-1', 96), waitedMs: 21_400 },
      { owner: '3fJk2LwQzXy8vNmPqRsTu:4', waitedMs: 9_000, isDead: true },
    ],
  })
  locks.set('shop:report', {
    holders: [
      { owner: `${CLIENT}:2`, process: processOf('nightly', 'job-1', 96), ageMs: 5_400_000 },
    ],
  })
  locks.set('shop:legacy', {
    holders: [{ owner: '0ba12c-22:71', isRedisson: true, ageMs: 61_000, ttlMs: null }],
    waiting: 2,
  })
  locks.set('shop:stock', {
    kind: 'read-write',
    state: 'read',
    holders: [
      { owner: 'a:1', process: processOf('search', 'web-3', 40), ageMs: 48_000 },
      { owner: 'b:1', process: processOf('search', 'web-4', 41), ageMs: 31_000 },
    ],
  })
  const labels = ['checkout', 'invoices', 'shipping'] as const
  for (let i = 0; i < 40; i++) {
    const process = processOf(labels[i % 3] as string, `web-${i % 5}`, 100 + i)
    locks.set(`shop:order:${2_000 + i}`, {
      holders: [{ owner: `p${i}:1`, process, ageMs: i * 900, ttlMs: 20_000 + 200 * i }],
    })
  }
  for (let i = 0; i < 200; i++) locks.set(`shop:idle:${i}`)
  return locks
}
