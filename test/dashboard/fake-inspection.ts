import type {
  HolderRow,
  Inspection,
  LockDetail,
  Unreachable,
  WaiterRow,
} from '../../tools/inspection/inspection.ts'

type Given = Partial<Omit<LockDetail, 'key' | 'holders' | 'queue'>> & {
  readonly holders?: readonly Partial<HolderRow>[]
  readonly queue?: readonly Partial<WaiterRow>[]
}

/** A deployment whose state the test sets. It counts the requests. */
export class FakeInspection implements Inspection {
  readonly address = '10.0.0.5:6379'
  readonly cost = { commands: 0, bytes: 0, tookMs: 0 }
  readonly locks = new Map<string, { readonly since: number; readonly detail: LockDetail }>()
  readonly asked = { opened: 0, scan: 0, look: 0, inspect: 0, closed: 0 }
  readonly released: [string, unknown][] = []
  readonly isIncomplete = false
  unreachable: readonly Unreachable[] = []
  outage: string | undefined
  outcome: 'released' | 'changed' = 'released'

  readonly open = async (): Promise<Inspection> => {
    this.#fail()
    this.asked.opened++
    return this
  }

  set(key: string, given: Given = {}): void {
    const holders = (given.holders ?? []).map(holderOf)
    const detail: LockDetail = {
      key,
      kind: 'lock',
      state: holders.length > 0 ? 'held' : 'free',
      stateText: given.state ?? (holders.length > 0 ? 'held' : 'free'),
      token: 1_700_000_000_000_001,
      waiting: given.queue?.length ?? 0,
      oldestWaitMs: given.queue?.[0]?.waitedMs ?? null,
      count: null,
      votes: null,
      ...given,
      holders,
      queue: (given.queue ?? []).map(waiterOf),
    }
    this.locks.set(key, { since: Date.now(), detail })
  }

  /** Returns the lock of now: ages have grown, and leases were renewed. */
  get(key: string): LockDetail | undefined {
    const lock = this.locks.get(key)
    if (lock === undefined) return undefined
    const { since, detail } = lock
    const later = (ms: number | null) => (ms === null ? null : ms + Date.now() - since)
    return {
      ...detail,
      oldestWaitMs: later(detail.oldestWaitMs),
      holders: detail.holders.map((one) => ({
        ...one,
        process: this.#processLater(one.process, Date.now() - since),
        ageMs: later(one.ageMs),
        ttlMs: one.ttlMs === null ? null : one.ttlMs - ((Date.now() - since) % 10_000),
      })),
      queue: detail.queue.map((one) => ({ ...one, waitedMs: later(one.waitedMs) })),
    }
  }

  /** If a client has not reported for long, it is gone. Then the time since its report grows. */
  #processLater(process: HolderRow['process'], ms: number): HolderRow['process'] {
    if (process === null || process.seenMs === null || process.seenMs < 30_000) return process
    return { ...process, seenMs: process.seenMs + ms }
  }

  async *listEndless() {}

  async *list() {
    this.#fail()
    this.asked.scan++
    const rows = [...this.locks.keys()].flatMap((key) => this.get(key) ?? [])
    for (let i = 0; i < rows.length; i += 100) yield rows.slice(i, i + 100)
  }

  async read(keys: readonly string[]) {
    this.#fail()
    this.asked.look++
    return keys.flatMap((key) => this.get(key) ?? [])
  }

  async inspect(key: string) {
    this.#fail()
    this.asked.inspect++
    return this.get(key) ?? null
  }

  async forceRelease(key: string, seen: { owner: string; token: number | null }) {
    this.#fail()
    this.released.push([key, seen])
    if (this.outcome === 'released') this.set(key)
    return { outcome: this.outcome, fence: 1_700_000_000_000_002 }
  }

  async requestRelease(_key: string, owners: readonly string[]) {
    return owners.map(() => false)
  }

  async close() {
    this.asked.closed++
  }

  #fail(): void {
    if (this.outage !== undefined) throw new Error(this.outage)
  }
}

function holderOf(given: Partial<HolderRow>): HolderRow {
  return {
    owner: 'client:1',
    process: null,
    isRedisson: false,
    holdCount: 1,
    permits: [],
    ttlMs: 25_000,
    ageMs: 4_000,
    ...given,
  }
}

function waiterOf(given: Partial<WaiterRow>): WaiterRow {
  return {
    owner: 'client:2',
    process: null,
    waitedMs: 2_000,
    isDead: false,
    wants: null,
    ...given,
  }
}

export function processOf(
  label: string,
  host = 'web-1',
  pid = 4_711,
  seenMs: number | null = 3_000,
) {
  return { client: 'c', label, host, pid, seenMs }
}
