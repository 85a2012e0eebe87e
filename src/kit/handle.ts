import { InvalidArgumentError } from '../errors.ts'
import { COPY } from './copies.ts'
import { INSPECT, type Inspect } from './printed.ts'
import { publicCall } from './public-call.ts'
import { VERSION } from './version.ts'

/** One loaded copy of the package, as error messages of another copy describe it. */
interface Copy {
  readonly version: string
  /** The folder of the copy, which shows whether the copy is the ESM or the CommonJS build. */
  readonly path: string
}

let readInner: (handle: Handle) => object | undefined

/**
 * The object that users receive. A handle has only the public members of an internal object. The
 * handle passes each use of a member to the internal object.
 */
class Handle {
  readonly #inner: object

  static {
    readInner = (value) => (#inner in value ? value.#inner : undefined)
  }

  constructor(inner: object) {
    this.#inner = inner
  }

  [INSPECT](_depth: number, options: object, inspect: Inspect): string {
    return inspect(this.#inner, options)
  }

  get [COPY](): Copy {
    return ownCopy()
  }
}

interface Naming {
  /** The variable name that error messages use for a handle. */
  readonly variable: string
  /**
   * The names of methods of other libraries that the handle does not have. Each value is the method
   * that the error recommends instead.
   */
  readonly instead?: Readonly<Record<string, string>>
}

/**
 * Makes the class of the handles of one internal class.
 *
 * @param members the names of the public members, without `toJSON`. The handle also has `toJSON` if
 * the internal class has it
 */
export function handleClassOf<T extends object, M extends keyof T>(
  Inner: { readonly name: string; readonly prototype: T },
  members: readonly M[],
  { variable, instead = {} }: Naming,
): new (
  inner: T,
) => Pick<T, M> {
  const HandleOfClass = { [Inner.name]: class extends Handle {} }[Inner.name] as typeof Handle
  const define = (name: PropertyKey, descriptor: PropertyDescriptor) =>
    Object.defineProperty(HandleOfClass.prototype, name, { configurable: true, ...descriptor })
  const names: PropertyKey[] = 'toJSON' in Inner.prototype ? [...members, 'toJSON'] : [...members]
  for (const name of names) {
    const innerOf = (handle: unknown) => {
      const inner = objectBehind(handle)
      if (inner === undefined) throw detachedError(name, variable)
      return inner as Record<PropertyKey, (...args: unknown[]) => unknown>
    }
    // If the prototype has no method with this name, the name belongs to a field or a property. The
    // handle then gets a getter.
    const isMethod = typeof valueIn(Inner.prototype, name) === 'function'
    if (isMethod) {
      const value = function (this: unknown, ...args: unknown[]): unknown {
        const inner = innerOf(this)
        const outer = publicCall.method
        publicCall.method = value
        try {
          return inner[name]?.(...args)
        } finally {
          publicCall.method = outer
        }
      }
      define(name, { value: named(name, value), writable: true })
    } else {
      define(name, {
        get(this: unknown) {
          return innerOf(this)[name]
        },
      })
    }
  }
  for (const [name, use] of Object.entries(instead)) {
    const value = () => {
      throw new InvalidArgumentError(`There is no ${variable}.${name}(). Use ${use}.`)
    }
    define(name, { value, writable: true })
  }
  return HandleOfClass as never
}

/**
 * Returns the `Inner` object of a handle that this copy of the package made. Undefined for all
 * other values.
 */
export function behind<T extends object>(
  value: unknown,
  Inner: abstract new (...args: never) => T,
): T | undefined {
  const inner = objectBehind(value)
  return inner instanceof Inner ? inner : undefined
}

/**
 * Returns why Holdfast refuses a handle that another copy of the package made. The text has no full
 * stop at its end. Undefined for all other values.
 *
 * @param what the handle, as the subject of the sentence
 */
export function otherCopy(value: unknown, what: string): string | undefined {
  const copy = Object(value)[COPY] as Copy | undefined
  if (copy === undefined || objectBehind(value) !== undefined) return undefined
  const own = ownCopy()
  return (
    `${what} was created by another copy of Holdfast: ${copy.version} in ${copy.path}. This client is from ${own.version} in ${own.path}. ` +
    'Load only one copy: either with import or with require, and only one of the copies that `npm ls holdfast` lists'
  )
}

function objectBehind(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null ? readInner(value as Handle) : undefined
}

function valueIn(prototype: object, name: PropertyKey): unknown {
  for (let one: object | null = prototype; one !== null; one = Object.getPrototypeOf(one)) {
    const descriptor = Object.getOwnPropertyDescriptor(one, name)
    if (descriptor !== undefined) return descriptor.value
  }
  return undefined
}

/**
 * Describes this copy of the package. The path comes from a stack trace, because ESM and CommonJS
 * have no common expression for the path of a file.
 */
function ownCopy(): Copy {
  const [, line = ''] = (new Error().stack ?? '').split('\n')
  const file = /(?:\(|at )([^()]+?)(?::\d+)*\)?$/.exec(line)?.[1] ?? 'unknown'
  return {
    version: VERSION,
    path: file
      .replace(/^file:\/\//, '')
      .replace(/[\\/](kit[\\/]handle|holdfast-shared[\\/][^\\/]+)\.\w+$/, ''),
  }
}

/**
 * Makes the error for a method that was called without its object, as in `const { lock } =
 * holdfast.getLock('x'); lock()`.
 */
function detachedError(method: PropertyKey, variable: string): InvalidArgumentError {
  const call = typeof method === 'symbol' ? `[${method.description}]` : `.${String(method)}`
  return new InvalidArgumentError(
    `${String(method)}() was called without its object. Call it on the object, ${variable}${call}(), or pass a ` +
      `function that calls it: () => ${variable}${call}().`,
  )
}

/**
 * Changes each method of a class, so that a call without its object throws an error with advice. A
 * changed method also records itself in `publicCall` while it runs.
 *
 * @param variable the variable name that error messages use for such an object
 */
export function refuseDetached(
  Class: abstract new (...args: never) => object,
  variable: string,
): void {
  const prototype: object = Class.prototype
  for (const name of Reflect.ownKeys(prototype)) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
    const method: unknown = descriptor?.value
    if (name === 'constructor' || typeof method !== 'function') continue
    const value = named(name, function (this: unknown, ...args: unknown[]): unknown {
      if (!(this instanceof Class)) throw detachedError(name, variable)
      const outer = publicCall.method
      publicCall.method = value
      try {
        return method.apply(this, args)
      } finally {
        publicCall.method = outer
      }
    })
    Object.defineProperty(prototype, name, { ...descriptor, value })
  }
}

/** Gives the function this name in stack traces. */
function named<F extends object>(name: PropertyKey, value: F): F {
  const text = typeof name === 'symbol' ? `[${name.description}]` : name
  return Object.defineProperty(value, 'name', { value: text })
}
