import { InvalidArgumentError } from '../errors.ts'
import { publicCall } from './public-call.ts'

/** As in `const { lock } = holdfast.getLock('x'); lock()`. */
export function detachedError(method: PropertyKey, variable: string): InvalidArgumentError {
  const call = typeof method === 'symbol' ? `[${method.description}]` : `.${String(method)}`
  return new InvalidArgumentError(
    `${String(method)}() was called without its object. Call it on the object, ${variable}${call}(), or pass on a ` +
      `function that does: () => ${variable}${call}().`,
  )
}

/**
 * Makes the methods of a class fail with that error when they are called without their object.
 *
 * @param variable a variable that has such an object, as the message names it
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

/** The same function, by that name in stacks. */
export function named<F extends object>(name: PropertyKey, value: F): F {
  const text = typeof name === 'symbol' ? `[${name.description}]` : name
  return Object.defineProperty(value, 'name', { value: text })
}
