import { eventually } from '../support/eventually.ts'
import { forward } from '../support/forward.ts'
import { sharedServer } from '../support/redis-server.ts'

export type Value = string | number
export type Arguments = Record<string, Value>

export interface Script {
  readonly keys: readonly string[]
  readonly args: readonly string[]
  readonly source: string
}

export const server = sharedServer()
export const admin = forward(() => server.admin)

export const LOCK = 'it'
export const COUNTER = 'redisson_lock_token:{it}'
export const CHANNEL = 'redisson_lock__channel:{it}'
export const QUEUE = 'holdfast_queue:{it}'
export const WAITING = 'holdfast_waiting:{it}'
export const JAVA_QUEUE = 'redisson_lock_queue:{it}'
export const JAVA_TIMEOUTS = 'redisson_lock_timeout:{it}'
export const FORCED = 'holdfast_forced:{it}'
export const BIRTH = 'holdfast_birth'
export const COUNTER_MS = 60_000
export const NEVER = 0

const KEYS: Record<string, string> = {
  lock: LOCK,
  counter: COUNTER,
  queue: QUEUE,
  waiting: WAITING,
  javaQueue: JAVA_QUEUE,
  javaTimeouts: JAVA_TIMEOUTS,
  birth: BIRTH,
  forced: FORCED,
  readers: 'holdfast_readers:{it}',
  writers: 'holdfast_writers:{it}',
  alive: 'holdfast_alive:{it}',
  phase: 'holdfast_phase:{it}',
  latch: LOCK,
  round: 'holdfast_round:{it}',
  pool: LOCK,
  timeouts: '{it}:timeout',
  holders: 'holdfast_permit_holders:{it}',
  kind: 'holdfast_kind:{it}',
  request: 'holdfast_request:{it}:r',
}

/**
 * Runs a script. The header of the script declares the names of its arguments. The last arguments may be missing.
 *
 * @param others keys that differ between tests
 */
export function run(
  script: Script,
  args: Arguments,
  others: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const keys = script.keys.map((name) => others[name] ?? (KEYS[name] as string))
  const given = script.args.findLastIndex((name) => args[name] !== undefined) + 1
  const values = script.args.slice(0, given).map((name) => {
    const value = args[name]
    if (value === undefined) throw new Error(`The script takes ${name}`)
    return value
  })
  return admin.eval(script.source, keys.length, ...keys, ...values)
}

/** Returns all keys with their values, as DUMP returns them. */
export async function state() {
  const keys = (await admin.keys('*')).sort()
  return Promise.all(
    keys.map(async (key) => [key, await admin.dump(key).then((dump) => String(dump))]),
  )
}

export const fields = () => admin.hgetall(LOCK)

export const nowUs = async () => {
  const [seconds, micros] = (await admin.time()) as unknown as [string, string]
  return Number(seconds) * 1_000_000 + Number(micros)
}

/** Returns a time limit in the format of requests: `ms` from now, plus a maximum error in tenths of a second. */
export const notAfter = async (ms: number, tenths: number) =>
  Math.floor((await nowUs()) / 1_000 + ms) * 1_000 + tenths

/** Returns the messages on the channel during the work. */
export async function messagesOf(
  work: () => Promise<unknown>,
  channel = CHANNEL,
): Promise<string[]> {
  const messages: string[] = []
  const client = admin.duplicate()
  client.on('message', (_, payload) => messages.push(payload))
  try {
    await client.subscribe(channel)
    await work()
    await admin.publish(channel, 'end')
    await eventually(() => messages.includes('end'))
  } finally {
    client.disconnect()
  }
  await eventually(async () => ((await admin.pubsub('CHANNELS')) as string[]).length === 0)
  return messages.slice(0, -1)
}

/** Returns the keys without a TTL. */
export async function withoutTtl(): Promise<string[]> {
  const found: string[] = []
  for (const key of await admin.keys('*')) if ((await admin.pttl(key)) === -1) found.push(key)
  return found
}
