import { Holdfast } from '../../src/index.ts'
import { shown } from '../../src/observe/facts/shown.ts'
import type { HistoryRedis } from './open-client.ts'

/** @throws `TypeError` if `options` is not an object, or has an option that is not in `known` */
export function assertOptions(options: unknown, caller: string, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${caller} takes an object of options; got ${shown(options)}.`)
  }
  const other = Object.keys(options).find((name) => !known.includes(name))
  if (other === undefined) return
  throw new TypeError(`There is no option \`${other}\` here. There are: ${known.join(', ')}.`)
}

/**
 * @throws `TypeError` if `new Holdfast()` rejects this `redis`, with the reason that
 * `new Holdfast()` gives
 */
export function assertRedis(redis: HistoryRedis): void {
  try {
    // Sends nothing, because a client connects at its first request.
    void new Holdfast({ redis }).close()
  } catch (error) {
    const { message } = error as Error
    throw new TypeError(message.replace('new Holdfast(options): `redis`', 'redis'))
  }
}

/** @throws `TypeError` if the value has another type; accepts undefined */
export function assertType(value: unknown, option: string, type: 'string' | 'function'): void {
  if (value === undefined || typeof value === type) return
  throw new TypeError(`${option} must be a ${type}; got ${shown(value)}.`)
}
