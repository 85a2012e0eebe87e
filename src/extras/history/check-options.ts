import { Holdfast } from '../../index.ts'
import { shown } from '../facts/shown.ts'
import type { HistoryRedis } from './open-client.ts'

/** @throws `TypeError` unless it is an object with known names alone: a name that is not known may be a misspelt one */
export function assertOptions(options: unknown, caller: string, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${caller} takes an object of options; got ${shown(options)}.`)
  }
  const other = Object.keys(options).find((name) => !known.includes(name))
  if (other === undefined) return
  throw new TypeError(`There is no option \`${other}\` here. There are: ${known.join(', ')}.`)
}

/** @throws `TypeError` for what is no place of a Redis, in the words of a client of locks, which takes the same */
export function assertRedis(redis: HistoryRedis): void {
  try {
    // It connects at its first use, which it never has.
    void new Holdfast({ redis }).close()
  } catch (error) {
    const { message } = error as Error
    throw new TypeError(message.replace('new Holdfast(options): `redis`', 'redis'))
  }
}

/** @throws `TypeError` for what is given and no string */
export function assertText(value: unknown, option: string): void {
  if (value === undefined || typeof value === 'string') return
  throw new TypeError(`${option} must be a string; got ${shown(value)}.`)
}

/** @throws `TypeError` for what is given and no function */
export function assertFunction(value: unknown, option: string): void {
  if (value === undefined || typeof value === 'function') return
  throw new TypeError(`${option} must be a function; got ${shown(value)}.`)
}
