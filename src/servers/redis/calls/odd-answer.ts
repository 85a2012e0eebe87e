import { OddAnswer } from '../../call-failure.ts'

const MOST_SHOWN = 120

/** Makes the failure for an answer that the script never gives. */
export function oddAnswer(script: string, reply: unknown): OddAnswer {
  return new OddAnswer(`it gave the invalid answer ${shown(reply)} to the script "${script}"`)
}

/** Returns an answer of a server as short text for an error message. */
function shown(reply: unknown): string {
  const words = asWords(reply)
  return words.length <= MOST_SHOWN ? words : `${words.slice(0, MOST_SHOWN)}…`
}

function asWords(reply: unknown): string {
  if (reply === null || reply === undefined) return 'nil'
  if (typeof reply === 'string') return JSON.stringify(reply)
  if (reply instanceof Error) return `the error ${JSON.stringify(reply.message)}`
  if (!Array.isArray(reply)) return typeof reply === 'object' ? 'a map' : String(reply)
  return `[${reply.slice(0, 10).map(asWords).join(', ')}${reply.length > 10 ? ', …' : ''}]`
}
