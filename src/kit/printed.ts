/** Node.js calls the method with this name to log an object. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never

/** The function that `util.inspect` passes to that method. `console.log` uses `util.inspect`. */
export type Inspect = (value: unknown, options: object) => string

/** An object that logs show as the result of its `toJSON()`, because its fields are internal. */
export abstract class Printed {
  abstract toJSON(): Record<string, unknown>

  /** @internal */
  [INSPECT](_depth: number, options: object, inspect: Inspect): string {
    return printed(this, options, inspect)
  }
}

/** Does the same as {@link Printed} for objects that extend another class. */
export function printed(
  one: { toJSON(): Record<string, unknown> },
  options: object,
  inspect: Inspect,
): string {
  return `${one.constructor.name} ${inspect(one.toJSON(), options)}`
}
