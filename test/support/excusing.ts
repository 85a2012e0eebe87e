/**
 * Defines a suite in which the tests and blocks of some titles are skipped, each with its reason.
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
      const reason = Object.hasOwn(reasons, title) ? reasons[title] : undefined
      return reason === undefined
        ? Reflect.apply(define, self, [title, ...rest])
        : Reflect.apply(define.skip, define, [`${title} (not here: ${reason})`, ...rest])
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
