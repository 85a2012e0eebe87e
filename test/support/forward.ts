/** Stands for an object that comes into being later, such as one made in a `beforeAll`. */
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
