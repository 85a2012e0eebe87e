import { type RedisUnavailableError, unavailableError } from '../errors.ts'
import { LateGrant, OddAnswer } from '../servers/call-failure.ts'
import type { ServerWords } from '../servers/server-words.ts'

interface SilentServer {
  readonly words: ServerWords
  /** The address of a single server; undefined if unknown. */
  readonly address?: string | undefined
}

/** Makes the error of a call whose time limit has passed without an answer of the server. */
export function silentError(
  lockName: string,
  what: string,
  server: SilentServer,
): RedisUnavailableError {
  const answer = `${nameOf(server)} gave no answer`
  return unavailableError(lockName, what, answer, server.words.ifSilent)
}

/**
 * Returns the words of an error about a missing answer, and the advice for the user.
 *
 * @param why the reason for the missing answer
 * @param forMs how long the server has not answered, in milliseconds
 */
export function silenceWords(
  server: SilentServer,
  failure: unknown,
  why: string,
  forMs: number,
): { readonly answer: string; readonly step: string } {
  // If the client has several masters, some of them may have answered. So the message only quotes
  // the reason, which describes each master.
  const ofMasters = server.words.stepOfMasters?.(failure)
  if (ofMasters !== undefined) return { answer: `for ${forMs} ms ${why}`, step: ofMasters }
  const answer = `${nameOf(server, why)} gave ${missedAnswer(failure)} for ${forMs} ms (${why})`
  const isLate = failure instanceof LateGrant
  return { answer, step: isLate ? OF_LATE_GRANT : server.words.ifSilent }
}

const OF_LATE_GRANT = 'Use a longer `leaseMs`, or find out why answers take so long.'

/**
 * Returns the name of the server for a message. Adds the address if the other words do not contain
 * the address.
 *
 * @param others the other words of the message
 */
function nameOf({ words: { name }, address }: SilentServer, others = ''): string {
  return address === undefined || others.includes(address) ? name : `${name} at ${address}`
}

function missedAnswer(failure: unknown): string {
  if (failure instanceof OddAnswer) return 'no valid answer'
  return failure instanceof LateGrant ? 'no timely answer' : 'no answer'
}
