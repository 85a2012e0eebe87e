import type { Holdfast, Lease } from '../../src/index.ts'
import { type Rig, within } from '../support/fault-rig.ts'

/** Longer than all waiters of a test need, in milliseconds. */
export const SOON_MS = 6_000

/** One waiter that held the lock, and its token. */
export interface Turn {
  readonly who: string
  readonly token: number
}

/** Waiters that queue one after the other. Each waiter holds the lock for a moment, and records its turn. */
export class Queue {
  readonly turns: Turn[] = []
  readonly ends: Promise<unknown>[] = []
  inside = 0
  readonly #rig: Rig

  constructor(rig: Rig) {
    this.#rig = rig
  }

  async join(who: string, client: Holdfast, work: (lease: Lease) => unknown = () => {}) {
    const before = (await this.#rig.queue('it')).length
    this.ends.push(
      client.getFairLock('it').using(async (lease) => {
        expect(++this.inside).toBe(1)
        this.turns.push({ who, token: lease.token })
        await work(lease)
        this.inside -= 1
      }),
    )
    await this.#rig.queued('it', before + 1)
  }

  async joinAll(
    names: readonly string[],
    clientOf: (who: string) => Holdfast,
    work?: () => unknown,
  ) {
    for (const who of names) await this.join(who, clientOf(who), work)
  }

  get order(): string[] {
    return this.turns.map(({ who }) => who)
  }

  /** Waits until all waiters have been served. Checks that their tokens rise. */
  async served(ms = SOON_MS): Promise<void> {
    await within(ms, Promise.all(this.ends))
    const tokens = this.turns.map(({ token }) => token)
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
  }
}
