import type { RateLimit } from '../../src/servers/rate-server.ts'
import type { NameRecord, RecordStore } from '../../src/servers/record-store.ts'
import { recordRate } from '../../src/servers/records/rate.ts'

// Visits every order of a few steps, with small numbers. Another test compares the same code with the scripts of Redis.

interface Grant {
  readonly id: string
  /** The time of the grant for the server. */
  readonly atUs: number
  /** The same time on a clock that is never set back. */
  readonly trueUs: number
  readonly cost: number
}

interface State {
  readonly record: NameRecord
  readonly nowMs: number
  /** How far the clock was set back, in ms. */
  readonly setBackMs: number
  /** The grants that were not given back, in their order. */
  readonly grants: readonly Grant[]
  readonly calls: number
}

const START_MS = 1_000_000

const FIRST: State = {
  record: { parts: {} },
  nowMs: START_MS,
  setBackMs: 0,
  grants: [],
  calls: 0,
}

const trueNowUs = ({ nowMs, setBackMs }: State) => (nowMs + setBackMs) * 1_000

const limitOf = (permits: number, perMs: number): RateLimit => ({ permits, perMs })

/** Two clients with different limits for one name. */
const TWO_IN_3 = limitOf(2, 3)
const ONE_IN_2 = limitOf(1, 2)

/** Runs one request on a copy of the record. */
async function request<T>(
  state: State,
  send: (rate: ReturnType<ReturnType<typeof recordRate>>) => Promise<T>,
): Promise<{ record: NameRecord; answer: T }> {
  const record = structuredClone(state.record)
  const store: Pick<RecordStore, 'transact' | 'words'> = {
    words: { conflictCode: '' } as RecordStore['words'],
    transact: async (_names, _callMs, change) =>
      change([record], { nowMs: state.nowMs } as Parameters<typeof change>[1]).answer,
  }
  const answer = await send(recordRate({ store } as Parameters<typeof recordRate>[0])('it'))
  return { record, answer }
}

const sumOf = (grants: readonly Grant[]) => grants.reduce((sum, { cost }) => sum + cost, 0)

async function acquire(state: State, limit: RateLimit, cost: number): Promise<State> {
  const id = `${state.calls}`
  const given = { id, ...limit, cost, mostMs: '', again: false } as const
  const { record, answer } = await request(state, (rate) => rate.acquire(given, 1))
  const { kind, atUs, waitUs } = answer as { kind: string; atUs: number; waitUs: number }
  const trueUs = trueNowUs(state) + waitUs
  const before = state.grants.filter((one) => one.trueUs > trueUs - limit.perMs * 1_000)
  const isInOrder = state.grants.every((one) => one.trueUs <= trueUs)
  const isWithinLimit = sumOf(before) + cost <= limit.permits
  if (kind !== 'granted' || !isInOrder || !isWithinLimit) {
    throw new Error(`Wrong: ${JSON.stringify({ isInOrder, isWithinLimit, answer, given, state })}`)
  }
  const grants = [...state.grants, { id, atUs, trueUs, cost }]
  return { ...state, record, grants, calls: state.calls + 1 }
}

/** Gives back the first or the last grant that is left. */
async function giveBack(state: State, end: 0 | -1): Promise<State | undefined> {
  const grant = state.grants.at(end)
  if (grant === undefined || grant.trueUs <= trueNowUs(state)) return undefined
  const { record } = await request(state, (rate) => rate.giveBack(grant, 1))
  return { ...state, record, grants: state.grants.filter((one) => one !== grant) }
}

/** Sends a copy of the last request. */
async function copy(state: State): Promise<State | undefined> {
  const grant = state.grants.at(-1)
  if (grant === undefined) return undefined
  const given = { ...grant, ...TWO_IN_3, mostMs: 0, again: true }
  const { record, answer } = await request(state, (rate) => rate.acquire(given, 1))
  // After the end of its interval, a grant may be forgotten.
  const isForgotten = grant.trueUs + 3_000 <= trueNowUs(state)
  const { kind, atUs } = answer as { kind: string; atUs?: number }
  if (!isForgotten && (kind !== 'granted' || atUs !== grant.atUs)) {
    throw new Error(`Not found again: ${JSON.stringify({ answer, grant, state })}`)
  }
  return isForgotten ? undefined : { ...state, record }
}

type Step = (state: State) => Promise<State | undefined>

const STEPS: readonly Step[] = [
  (state) => acquire(state, TWO_IN_3, 1),
  (state) => acquire(state, TWO_IN_3, 2),
  (state) => acquire(state, ONE_IN_2, 1),
  (state) => giveBack(state, 0),
  (state) => giveBack(state, -1),
  copy,
  async (state) => ({ ...state, nowMs: state.nowMs + 1 }),
  async (state) => ({ ...state, nowMs: state.nowMs + 3 }),
]

/** Returns the number of states that were visited. */
async function visit(state: State, steps: readonly Step[], depth: number): Promise<number> {
  if (depth === 0) return 1
  let count = 1
  for (const step of steps) {
    const next = await step(state)
    if (next !== undefined) count += await visit(next, steps, depth - 1)
  }
  return count
}

const DEPTH = Number(process.env.HOLDFAST_DEPTH ?? 5)

test('in every order of calls, aborts, copies and times, each call is granted in order and within its limit', async () => {
  expect(await visit(FIRST, STEPS, DEPTH)).toBeGreaterThan(8 ** (DEPTH - 1))
})

test('the same is true if the clock of the server is set back', async () => {
  const setBack: Step = async (state) =>
    state.setBackMs > 0 ? undefined : { ...state, nowMs: state.nowMs - 50, setBackMs: 50 }
  const steps = [...STEPS.slice(0, 5), ...STEPS.slice(6), setBack]
  expect(await visit(FIRST, steps, DEPTH - 1)).toBeGreaterThan(8 ** (DEPTH - 2))
})
