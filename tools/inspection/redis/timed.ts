/**
 * Yields the values of `steps`, and reports how long each value took, in milliseconds. Does not
 * count the time that the caller needs between two values.
 */
export async function* timed<T>(
  steps: AsyncGenerator<T>,
  report: (tookMs: number) => void,
): AsyncGenerator<T> {
  try {
    for (;;) {
      const startedAt = performance.now()
      const next = await steps.next().finally(() => report(performance.now() - startedAt))
      if (next.done) return
      yield next.value
    }
  } finally {
    await steps.return(undefined)
  }
}
