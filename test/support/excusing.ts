/**
 * Defines a suite without the tests and blocks of some titles, each of which has its reason.
 *
 * @param reasons by title
 */
export function excusing(reasons: Readonly<Record<string, string>>, suite: () => void): void {
  if (Object.keys(reasons).length === 0) {
    suite()
    return
  }
  const { describe, test } = globalThis
  const handler: ProxyHandler<jest.Describe & jest.It> = {
    apply(define, self, [title, ...rest]) {
      if (Object.hasOwn(reasons, title)) return
      Reflect.apply(define, self, [title, ...rest])
    },
  }
  Object.assign(globalThis, {
    describe: new Proxy(describe, handler as ProxyHandler<jest.Describe>),
    test: new Proxy(test, handler as ProxyHandler<jest.It>),
  })
  try {
    suite()
  } finally {
    Object.assign(globalThis, { describe, test })
  }
}
