import { InvalidArgumentError } from '../errors.ts'
import { COPY } from '../kit/copies.ts'
import { show } from '../kit/show.ts'

/**
 * Returns the checked value of an option.
 *
 * @param what the subject of the error message, such as the quoted name of the option
 * @throws `InvalidArgumentError` for an invalid value
 */
export type Rule<T> = (value: unknown, what: string) => T

/** The rule of an option, and its default. The option has the default if the caller gives no value. */
interface RuleOr<T, D> {
  readonly rule: Rule<T>
  readonly usual: D
}

/** The options of a call. If an option is only a rule, its default is undefined. */
type Shape = Readonly<Record<string, Rule<unknown> | RuleOr<unknown, unknown>>>

/** The checked value of each option, in a new object. */
type ValuesOf<S extends Shape> = {
  -readonly [K in keyof S]: S[K] extends RuleOr<infer T, infer D>
    ? T | D
    : S[K] extends Rule<infer T>
      ? T | undefined
      : never
}

type GivenOptions = Readonly<Record<string, unknown>>

export function or<T, D>(rule: Rule<T>, usual: D): RuleOr<T, D> {
  return { rule, usual }
}

/**
 * Declares the options of a call.
 *
 * @param what the subject of the error for a value that is not an object
 * @param rules the rules of the options by their names
 * @param prefix the beginning of the names in errors, such as `durability.`
 * @returns a function that reads the options, even options that are inherited, are accessors of a class, or are not
 * enumerable. The function throws `InvalidArgumentError` for a value that is not an object of options. It also throws
 * for an unknown name, and for a value that its rule refuses
 */
export function shape<S extends Shape>(what: string, rules: S, prefix = '') {
  const names = Object.keys(rules)
  const all = Object.entries(rules).map(([name, given]) => {
    const { rule, usual } = typeof given === 'function' ? or(given, undefined) : given
    return { name, rule, usual, label: `\`${prefix}${name}\`` }
  })
  // JavaScript engines store the properties of a spread copy inside the object, where code reads them fast. So a spread
  // makes `defaults` and its copies.
  const defaults: Record<string, unknown> = { ...rules }
  for (const { name, usual } of all) defaults[name] = usual

  /**
   * Reads valid options of a plain object, faster than `readInOrder`. Returns undefined if an option is invalid or has
   * an unknown name.
   */
  const readPlain = (options: GivenOptions) => {
    const read = { ...defaults }
    try {
      // Unlike `for in` and `Object.keys`, this also finds an option that is not enumerable.
      for (const name of Object.getOwnPropertyNames(options)) {
        // For so few names, this loop is faster than `indexOf`.
        let i = 0
        while (i < names.length && names[i] !== name) i++
        const option = all[i]
        if (option === undefined) return undefined
        const value = options[name]
        if (value !== undefined) read[name] = option.rule(value, option.label)
      }
    } catch {
      return undefined
    }
    return read
  }

  /**
   * Reads any value. Throws for an unknown name, or for the first invalid option in the order of `rules`. Ignores an
   * unknown name that is inherited or not enumerable.
   */
  const readInOrder = (options: unknown) => {
    if (typeof options !== 'object' || options === null || areNoOptions(options, names)) {
      throw new InvalidArgumentError(
        `${what} must be an object with ${anyOf(names)}; got ${show(options)}.`,
      )
    }
    assertKnown(Object.keys(options), names)
    const read = { ...defaults }
    for (const { name, rule, label } of all) {
      const value = (options as GivenOptions)[name]
      if (value !== undefined) read[name] = rule(value, label)
    }
    return read
  }

  return (options: unknown): ValuesOf<S> =>
    ((isPlain(options) ? readPlain(options) : undefined) ?? readInOrder(options)) as ValuesOf<S>
}

/** True for a direct instance of `Object`. Such an object inherits no option. */
function isPlain(value: unknown): value is GivenOptions {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  )
}

/** True for an object that contains no options: a handle such as a lock, or a built-in object such as an array. */
function areNoOptions(value: object, names: readonly string[]): boolean {
  // A lease has a `signal`, but the signal of a lease is no option.
  if (COPY in value) return true
  const isOther = Object.prototype.toString.call(value) !== '[object Object]'
  return isOther && !names.some((name) => name in value)
}

/** Returns the names as text, such as "`permits`, `waitMs` or `signal`". */
function anyOf(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``)
  const last = quoted.pop() ?? ''
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`
}

/**
 * @param names the names of the given options
 * @throws `InvalidArgumentError` for an unknown name, because it may be misspelt
 */
export function assertKnown(names: readonly string[], known: readonly string[], hint = ''): void {
  const other = names.find((name) => !known.includes(name))
  if (other === undefined) return
  throw new InvalidArgumentError(
    `There is no option \`${other}\` here. There are: ${known.join(', ')}.${hint}`,
  )
}
