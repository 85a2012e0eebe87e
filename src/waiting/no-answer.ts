import { LateGrant, OddAnswer } from '../servers/call-failure.ts'

/**
 * Returns how a message names the server.
 *
 * @param address the address of a single server; undefined if unknown
 * @param others the other words of the message; if they contain the address, it is not repeated
 */
export function redisAt(address: string | undefined, others = ''): string {
  return address === undefined || others.includes(address) ? 'Redis' : `Redis at ${address}`
}

export function missedAnswer(failure: unknown): string {
  if (failure instanceof OddAnswer) return 'no valid answer'
  return failure instanceof LateGrant ? 'no timely answer' : 'no answer'
}

/** Returns the advice for the user. Undefined if the usual advice for an outage is right. */
export function stepAfter(failure: unknown): string | undefined {
  if (!(failure instanceof LateGrant)) return undefined
  return 'Use a longer `leaseMs`, or find out why answers take so long.'
}
