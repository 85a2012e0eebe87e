import {
  type Arguments,
  admin,
  CHANNEL,
  COUNTER,
  COUNTER_MS,
  LOCK,
  NEVER,
  QUEUE,
  run,
  type Script,
  type Value,
  WAITING,
  withoutTtl,
} from '../../lua/run-script.ts'
import { eventually } from '../../support/eventually.ts'
import { atEnd } from '../../support/lifetime.ts'
import * as scripts from '../../support/scripts.ts'

/** Much longer than in practice, so that a slow machine changes nothing. */
export const LEASE_MS = 200_000
export const CLAIM_MS = 60_000
export const ALIVE_MS = 100_000
export const INBOX = 'inbox:'

/** The clock of the scripts stands at this time, in µs, unless a test moves it. */
export const NOW = 1_800_000_000_000_000
/** The token of the holder at the start of a test. It is also a ticket of an earlier time. */
export const TOKEN = NOW - 9_000_000

const TERMS: Arguments = {
  counterMs: COUNTER_MS,
  claimMs: CLAIM_MS,
  aliveMs: ALIVE_MS,
  inbox: INBOX,
  channel: CHANNEL,
  publish: 'PUBLISH',
}

let clockUs = NOW
beforeEach(() => {
  clockUs = NOW
})

/** Moves the clock of the scripts. TTLs follow the real clock. */
export function pass(ms: number): void {
  clockUs += Math.round(ms * 1_000)
}

/** Returns the script with the time of the test instead of the server's time. */
export function timed<S extends Script>(script: S): S {
  const time = `{ '${Math.floor(clockUs / 1e6)}', '${clockUs % 1e6}' }`
  const source = script.source.replaceAll("redis.call('TIME')", time)
  expect(source).not.toBe(script.source)
  return { ...script, source }
}

/** Checks that no script leaves a key without a TTL. */
async function checked<T>(work: () => Promise<unknown>): Promise<T> {
  const before = await withoutTtl()
  const reply = await work()
  expect((await withoutTtl()).filter((key) => !before.includes(key))).toEqual([])
  return reply as T
}

export const acquire = (args: Arguments = {}) =>
  checked<[kind: string, ...details: Value[]]>(() =>
    run(timed(scripts.acquireFair), {
      owner: 'a:1',
      leaseMs: LEASE_MS,
      ticket: '',
      notAfterUs: NEVER,
      listens: 1,
      label: 'shop',
      ...TERMS,
      ...args,
    }),
  )

/** @param served the owners that were served in a run */
export const release = (args: Arguments = {}, served: readonly string[] = []) =>
  checked<[kind: string, ...details: Value[]]>(() => {
    const script = timed(scripts.releaseFair)
    const names = served.map((_, i) => `served ${i}`)
    const listed = Object.fromEntries(served.map((owner, i) => [`served ${i}`, owner]))
    return run(
      { ...script, args: [...script.args.slice(0, -1), ...names] },
      { owner: 'h:1', token: TOKEN, most: 0, ...TERMS, ...args, ...listed },
    )
  })

/** The owner of a place, its ticket, and its claim window if that is shorter than usual. */
export type BeatPlace = [owner: string, ticket: Value, claimMs?: number]
export type BeatAnswer = [ttlMs: number, last: string, first: string, granted: string]
type WithMissing = [...BeatAnswer, missing: number]

/** A heartbeat for places on many locks, by the names of the locks. */
export function beatAll(locks: Record<string, BeatPlace[]>, args: Arguments = {}) {
  const keys = Object.keys(locks).flatMap((name) => [
    name,
    `redisson_lock_token:{${name}}`,
    `holdfast_queue:{${name}}`,
    `holdfast_waiting:{${name}}`,
  ])
  const places = Object.values(locks).flatMap((all) => [
    all.length,
    ...all.flatMap(([owner, ticket, claimMs = '']) => [owner, ticket, claimMs]),
  ])
  const all: Arguments = {
    client: 'a',
    notAfterUs: NEVER,
    listens: 1,
    label: 'shop',
    ...TERMS,
    ...args,
  }
  const { args: names, source } = timed(scripts.heartbeat)
  const values = names.slice(0, -1).map((name) => all[name] as Value)
  return checked<['done', (WithMissing | [string])[]] | ['late', string]>(() =>
    admin.eval(source, keys.length, ...keys, ...values, ...places),
  )
}

/** Sends a heartbeat for one lock. Returns the state of the lock. */
export async function beat(places: BeatPlace[], args: Arguments = {}): Promise<BeatAnswer> {
  return (await beatOne(places, args)).slice(0, 4) as BeatAnswer
}

/** Sends a heartbeat for one lock. Returns how many of the places were missing. */
export async function missingOf(places: BeatPlace[], args: Arguments = {}): Promise<number> {
  return (await beatOne(places, args))[4]
}

async function beatOne(places: BeatPlace[], args: Arguments): Promise<WithMissing> {
  const [kind, answers] = await beatAll({ [LOCK]: places }, args)
  expect([kind, answers]).toEqual(['done', [expect.any(Array)]])
  return answers[0] as WithMissing
}

/** The content of Redis at the start of a test. */
export interface Given {
  /** The holder. Missing if the lock is free. */
  holder?: string
  ttlMs?: number
  /** The last token. Null if the counter was lost. */
  token?: number | null
  /** Owners and their tickets. A list of owners means that each came one second after the one before. */
  queue?: string[] | Record<string, number>
  /** Clients with their marks, and owners with their claim windows. */
  waiting?: Record<string, Value>
}

export async function given({ holder, ttlMs, token = TOKEN, queue = [], waiting }: Given) {
  if (holder !== undefined) {
    await admin.hset(LOCK, holder, 1)
    await admin.pexpire(LOCK, ttlMs ?? LEASE_MS)
  }
  if (token !== null) await admin.set(COUNTER, String(token), 'PX', COUNTER_MS)
  const places = Array.isArray(queue)
    ? queue.map((owner, i) => [owner, ticketOf(i)] as const)
    : Object.entries(queue)
  for (const [owner, ticket] of places) await admin.zadd(QUEUE, ticket, owner)
  if (places.length > 0) await admin.pexpire(QUEUE, 2 * ALIVE_MS)
  if (waiting === undefined) return
  await admin.hset(WAITING, waiting)
  await admin.pexpire(WAITING, 2 * ALIVE_MS)
}

/** The ticket of a waiter that queued before the test, behind this many others. */
export function ticketOf(i: number): number {
  return TOKEN + (i + 1) * 1_000_000
}

/**
 * The mark of a client: the time until which the client lives, and a number. 2 means that its inbox had a listener. 1
 * means a listener of an older version.
 */
export function mark(seen: 0 | 1 | 2, leftMs = ALIVE_MS, label = 'shop'): string {
  return `${clockUs / 1_000 + leftMs} ${seen} ${label}`
}

/** The mark of a client that is gone: its inbox had a listener, but has no listener now. */
export const GONE = () => mark(2)
/** The mark of a client that has never listened. It may be about to listen. */
export const UNHEARD = () => mark(0)
/** The mark of a client whose heartbeats have stopped. */
export const EXPIRED = () => mark(2, -1)

/** Subscribes to channels, like a client to its inbox. The subscription ends with the test. */
export async function listen(...channels: string[]) {
  const heard: [channel: string, message: string][] = []
  const client = admin.duplicate()
  atEnd(() => client.disconnect(), { beforeCheck: true })
  client.on('message', (channel, message) => heard.push([channel, message]))
  await client.subscribe('end', ...channels)
  return {
    /** The messages since the last call. */
    async heard() {
      await admin.publish('end', '')
      await eventually(() => heard.some(([channel]) => channel === 'end'))
      return heard.splice(0).filter(([channel]) => channel !== 'end')
    },
    stop: () => client.unsubscribe(),
  }
}

/** Returns all data in Redis in readable form. */
export async function contents(): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  for (const key of (await admin.keys('*')).sort()) {
    const type = await admin.type(key)
    if (type === 'hash') all[key] = await admin.hgetall(key)
    else if (type === 'zset') all[key] = await admin.zrange(key, '0', '-1', 'WITHSCORES')
    else if (type === 'list') all[key] = await admin.lrange(key, 0, -1)
    else all[key] = await admin.get(key)
  }
  return all
}

export const queued = () => admin.zrange(QUEUE, '0', '-1')
export const waiting = () => admin.hgetall(WAITING)

/** Checks that the TTL of a key is about this long. The margin is for slow machines. */
export async function expectTtl(key: string, ms: number): Promise<void> {
  const ttlMs = await admin.pttl(key)
  expect(ttlMs).toBeLessThanOrEqual(ms)
  expect(ttlMs).toBeGreaterThan(ms * 0.75)
}
