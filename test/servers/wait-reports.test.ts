import { eventually, never } from '../support/eventually.ts'
import { faultRig } from '../support/fault-rig.ts'
import { warm } from '../support/warm.ts'

const rig = faultRig()

/** Returns the keys that the client waits for, each with the start of the wait, from the client's report in Redis. */
async function waitsOf({ id }: { id: string }): Promise<Record<string, number> | null> {
  const text = await rig.server.admin.hget(`holdfast_client:{${id}}`, 'note/waits')
  return text === null ? null : JSON.parse(text)
}

describe('a client that waits', () => {
  test.each(['a plain lock', 'a fair lock', 'a lock to write'])(
    'the client reports once since when it waits for %s, and later that it no longer waits',
    async (kind) => {
      const lockOf = (client: ReturnType<typeof rig.client>) => {
        if (kind === 'a fair lock') return client.getFairLock('it')
        return kind === 'a plain lock'
          ? client.getLock('it')
          : client.getReadWriteLock('it').writeLock()
      }
      const client = rig.client()
      const lease = await lockOf(rig.witness()).lock({ leaseMs: 60_000 })
      // The client subtracts monotonic time from the wall clock. The wall clock may be adjusted during the test.
      const before = Date.now() - 100
      const waits = [lockOf(client).lock(), lockOf(client).lock()]
      const queuedAt = Date.now() + 100
      await eventually(async () => (await waitsOf(client))?.it !== undefined)
      const first = await waitsOf(client)
      expect(Object.keys(first ?? {})).toEqual(['it'])
      expect(first?.it).toBeGreaterThan(before)
      expect(first?.it).toBeLessThanOrEqual(queuedAt)
      // The start of the wait does not change, so the client sends no further report.
      await never(async () => (await waitsOf(client))?.it !== first?.it, 1_200)
      await lease.release()
      for (const wait of waits) await (await wait).release()
      await eventually(async () => Object.keys((await waitsOf(client)) ?? {}).length === 0)
    },
  )

  test('the client reports no wait that is shorter than a second', async () => {
    const client = rig.client()
    await warm(client)
    for (let n = 0; n < 2; n++) {
      const lease = await rig.witness().getLock('it').lock({ leaseMs: 60_000 })
      expect(await client.getLock('it').tryLock({ waitMs: 500 })).toBeNull()
      await lease.release()
    }
    expect(await waitsOf(client)).toBeNull()
  })

  test('the client reports the oldest of its waits that remain', async () => {
    const client = rig.client()
    const lease = await rig.witness().getLock('it').lock({ leaseMs: 60_000 })
    const first = client.getLock('it').tryLock({ waitMs: 2_500 })
    await eventually(async () => (await waitsOf(client))?.it !== undefined)
    const giveUp = new AbortController()
    const later = client.getLock('it').lock({ signal: giveUp.signal })
    const since = (await waitsOf(client))?.it as number
    expect(await first).toBeNull()
    await eventually(async () => ((await waitsOf(client))?.it ?? 0) > since + 500)
    giveUp.abort()
    await expect(later).rejects.toThrow()
    await lease.release()
  })
})
