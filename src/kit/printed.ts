/** The name under which Node.js looks for how an object is logged. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never

/** What `util.inspect`, and so `console.log`, hands over. */
export type Inspect = (value: unknown, options: object) => string

/** An object that logs show as its `toJSON()` returns it, because its own fields are of no interest. */
export abstract class Printed {
  abstract toJSON(): Record<string, unknown>

  /** @internal */
  [INSPECT](_depth: number, options: object, inspect: Inspect): string {
    return printed(this, options, inspect)
  }
}

/** The same for an object that extends something else. */
export function printed(
  one: { toJSON(): Record<string, unknown> },
  options: object,
  inspect: Inspect,
): string {
  return `${one.constructor.name} ${inspect(one.toJSON(), options)}`
}
