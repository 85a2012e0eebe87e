/** The name under which Node.js looks for how an object is logged. */
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never

/** What `util.inspect`, and so `console.log`, hands over. */
type Inspect = (value: unknown, options: object) => string

/** An object whose own fields say nothing to whoever logs it: it is shown as `toJSON()` has it. */
export abstract class Printed {
  abstract toJSON(): Record<string, unknown>

  /** @internal */
  [INSPECT](_depth: number, options: object, inspect: Inspect): string {
    return `${this.constructor.name} ${inspect(this.toJSON(), options)}`
  }
}
