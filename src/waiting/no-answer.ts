import { LateGrant, OddAnswer } from '../servers/call-failure.ts'

/**
 * @param address the address of a single server; left out if unknown
 * @param others the other words of the message, which may already contain the address
 */
export function redisAt(address: string | undefined, others = ''): string {
  return address === undefined || others.includes(address) ? 'Redis' : `Redis at ${address}`
}

/** Returns the words for the missing answer, according to the last failure. */
export function missedAnswer(failure: unknown): string {
  if (failure instanceof OddAnswer) return 'no valid answer'
  return failure instanceof LateGrant ? 'no timely answer' : 'no answer'
}

/** Returns the advice for the user; undefined if the usual advice for an outage is right. */
export function stepAfter(failure: unknown): string | undefined {
  if (!(failure instanceof LateGrant)) return undefined
  return 'Use a longer `leaseMs`, or find out why answers take so long.'
}
