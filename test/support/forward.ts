/** Returns an object that stands for an object that is made later, for example in a `beforeAll`. */
export function forward<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get(_, key) {
      const target = current()
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    has: (_, key) => Reflect.has(current(), key),
  })
}
