import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'

/** Waiters that leave the queue: after an abort, at the end of `waitMs`, or because their client closes. */
const rig = faultRig()

/** For this long a grant waits for its confirmation. */
const CLAIM_MS = 1_500
/** The extra time of a busy machine, in milliseconds. */
const NOISE_MS = 1_000

interface Leaver {
  readonly client: Holdfast
  readonly end: Promise<{ value?: Lease | null; error?: unknown }>
  /** Makes the waiter leave. Resolves when the call has ended. */
  leave(): Promise<void>
}

const ways: Record<string, (client: Holdfast, lock: HoldfastLock, waitMs: number) => Leaver> = {
  'is aborted': (client, lock) => {
    const leaving = new AbortController()
    const end = outcome(lock.lock({ signal: leaving.signal }))
    return {
      client,
      end,
      leave: async () => {
        leaving.abort()
        expect((await end).error).toBe(leaving.signal.reason)
      },
    }
  },
  'reaches the end of its waiting time': (client, lock, waitMs) => {
    const end = outcome(lock.tryLock(waitMs))
    return {
      client,
      end,
      leave: async () => {
        expect((await end).value ?? null).toBeNull()
      },
    }
  },
  'ends with its client': (client, lock) => {
    const end = outcome(lock.lock())
    return {
      client,
      end,
      leave: async () => {
        const closing = client.close()
        expect((await end).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
        // The fault that delays the requests is removed later.
        closing.catch(() => undefined)
      },
    }
  },
}

interface Point {
  /** The moment at which the waiter leaves. */
  readonly point: string
  /** The `waitMs` of the waiter, long enough to reach the moment. */
  readonly waitMs?: number
  /** Prepares the moment, and resolves when it has come. Returns a function that removes the fault. */
  at(start: () => Leaver, release: () => Promise<unknown>): Promise<() => unknown>
}

/** Holds back the next request with this script, or its reply. */
function holdingBack(script: keyof typeof SHA, what: 'hold' | 'holdReply', first: boolean): Point {
  return {
    // The next heartbeat comes within half a second.
    ...(first ? {} : { waitMs: 1_600 }),
    point: `while ${script} runs and its ${what === 'hold' ? 'request' : 'reply'} is delayed`,
    async at(start) {
      if (!first) {
        start()
        await rig.queued('it', 1)
      }
      const trap = rig.proxy.onNextRequest(SHA[script], what)
      if (first) start()
      await trap.seen
      if (first && what === 'holdReply') await rig.queued('it', 1)
      return () => trap.release()
    },
  }
}

const grantedTo = (client: Holdfast) =>
  eventually(async () =>
    Object.keys(await rig.hash('it')).some((owner) => owner.startsWith(`${client.id}:`)),
  )

const points: readonly Point[] = [
  holdingBack('acquireFair', 'hold', true),
  holdingBack('acquireFair', 'holdReply', true),
  holdingBack('heartbeat', 'hold', false),
  holdingBack('heartbeat', 'holdReply', false),
  {
    point: 'while the waiter queues',
    async at(start) {
      await rig.hears(start().client)
      return () => undefined
    },
  },
  {
    point: 'while both connections break',
    async at(start) {
      await rig.hears(start().client)
      rig.proxy.cut()
      return () => undefined
    },
  },
  {
    point: 'while the message with the grant is delayed',
    async at(start, release) {
      const { client } = start()
      await rig.hears(client)
      const beat = rig.proxy.onNextRequest(SHA.heartbeat, 'hold')
      const hole = rig.proxy.blackHole({ only: 'subscriber' })
      await release()
      await grantedTo(client)
      return () => {
        hole.heal()
        beat.release()
      }
    },
  },
  {
    point: 'while the waiter checks if its grant is still valid',
    waitMs: 2_800,
    async at(start, release) {
      const { client } = start()
      await rig.hears(client)
      // The client must not rely on the last answer of the server, because this answer becomes too old.
      const beat = rig.proxy.onNextRequest(SHA.heartbeat, 'holdReply')
      const answeredAt = performance.now()
      await beat.seen
      await pause(answeredAt + 0.85 * CLAIM_MS - performance.now())
      const asking = rig.proxy.onNextRequest(SHA.acquireFair, 'pass', {
        only: (connection) => !connection.isSubscriber,
      })
      await release()
      await asking.seen
      return () => beat.release()
    },
  },
]

describe.each(points)('$point', ({ at, waitMs = 900 }) => {
  test.each(Object.keys(ways))('a waiter that %s leaves nothing behind', async (way) => {
    const client = rig.client({ commandTimeoutMs: 5_000 })
    await granted(await client.getFairLock('warm').tryLock()).release()
    const diary = new Diary(client)
    const held = await rig.witness().getFairLock('it').lock()
    let leaver: Leaver | undefined
    let released = false
    const start = () => {
      leaver = (ways[way] as (typeof ways)[string])(client, client.getFairLock('it'), waitMs)
      return leaver
    }
    let behind: Promise<Lease> | undefined
    const mend = await at(start, async () => {
      released = true
      behind = rig.witness().getFairLock('it').lock()
      await rig.queued('it', 2)
      await held.release()
    })
    behind ??= rig.witness().getFairLock('it').lock()
    await leaver?.leave()
    mend()
    if (!released) {
      // Only the place of the other waiter remains.
      await eventually(
        async () => {
          const places = await rig.queue('it')
          return places.length === 1 && !places[0]?.startsWith(`${client.id}:`)
        },
        { message: 'the end of its place' },
      )
      await held.release()
    }
    const next = await within(CLAIM_MS + NOISE_MS, behind)
    expect(diary.acquired).toEqual([])
    expect(await rig.hash('it')).toEqual({ [next.owner]: '1' })
    expect(await next.release()).toBe(true)
    await eventually(async () => !(await rig.exists('it')))
    expect(await rig.queue('it')).toEqual([])
    expect(diary.errors.map(String).filter((error) => error.includes('Lock "'))).toEqual([])
  })
})
