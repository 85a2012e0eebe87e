/** When Node.js logs an object, it calls the method with this name. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never

/** `util.inspect`, which Node.js passes to the method {@link INSPECT}. */
export type Inspect = (value: unknown, options: object) => string

/** An object that logs show as the result of `toJSON()`, because its fields are internal. */
export abstract class Printed {
  abstract toJSON(): Record<string, unknown>

  /** @internal */
  [INSPECT](_depth: number, options: object, inspect: Inspect): string {
    return printed(this, options, inspect)
  }
}

/**
 * Returns the text that logs show for an object. Classes that cannot extend {@link Printed} use
 * this function.
 */
export function printed(
  one: { toJSON(): Record<string, unknown> },
  options: object,
  inspect: Inspect,
): string {
  return `${one.constructor.name} ${inspect(one.toJSON(), options)}`
}
