/** The error if Redis has not answered in time. Redis may still run the request. */
class LateError extends Error {}

export const isLate = (error: unknown): boolean => error instanceof LateError

export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LateError(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
