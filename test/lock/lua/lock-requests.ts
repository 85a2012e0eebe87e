import {
  type Arguments,
  admin,
  CHANNEL,
  COUNTER_MS,
  NEVER,
  run,
  type Value,
} from '../../lua/run-script.ts'
import { counterOf } from '../../support/promised-keys.ts'
import * as scripts from '../../support/scripts.ts'

export const taking = { owner: 'c:1', leaseMs: 10_000, notAfterUs: NEVER, counterMs: COUNTER_MS }

export const acquire = (args: Arguments) =>
  run(scripts.acquire, { ...taking, holds: 1, ...args }) as Promise<[string, Value, Value?, Value?]>

export const release = (args: Arguments) =>
  run(scripts.release, {
    owner: 'c:1',
    token: '',
    channel: CHANNEL,
    publish: 'PUBLISH',
    ...args,
  }) as Promise<[string, Value?]>

export const handOver = (args: Arguments) =>
  run(scripts.handOver, {
    from: 'c:1',
    to: 'c:2',
    leaseMs: 10_000,
    notAfterUs: NEVER,
    counterMs: COUNTER_MS,
    channel: CHANNEL,
    publish: 'PUBLISH',
    listening: '',
    vote: '',
    reserve: 0,
    ...args,
  }) as Promise<[string, Value, Value?, Value?]>

export const renew = (
  leaseMs: number,
  seats: [key: string, owner: string][],
  counterMs = COUNTER_MS,
) =>
  admin.eval(
    scripts.renew.source,
    2 * seats.length,
    ...seats.flatMap(([key]) => [key, counterOf(key)]),
    leaseMs,
    counterMs,
    ...seats.map(([, owner]) => owner),
  ) as Promise<number[]>

/** A request to a single server. It leaves out the key that only masters write. */
export const forceRelease = (args: Arguments = {}) =>
  run(
    { ...scripts.forceRelease, keys: scripts.forceRelease.keys.slice(0, 2) },
    { owner: 'c:1', token: '', channel: CHANNEL, publish: 'PUBLISH', ...args },
  )
/** A request to one of several masters. */
export const forceAtMaster = (args: Arguments = {}) =>
  run(scripts.forceRelease, {
    owner: 'c:1',
    token: '',
    channel: CHANNEL,
    publish: 'PUBLISH',
    forcedMs: 20_000,
    ...args,
  })
export const inspect = (most = 1_000) =>
  run(scripts.inspect, { channel: CHANNEL, publish: 'PUBLISH', most })
export const peek = () => run(scripts.peek, {})
export const tokenOf = async (args: Arguments = {}) => Number((await acquire(args))[1])
