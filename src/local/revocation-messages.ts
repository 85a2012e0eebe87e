import type { Requester } from '../events.ts'
import { oneLine } from '../kit/printable.ts'

/** Asks a client to release the holds of these owners. */
export interface RevocationRequest {
  readonly kind: 'request'
  /** The id of the request. All messages of one request have the same id. */
  readonly id: string
  readonly owners: readonly string[]
  readonly reason: string | null
  readonly by: Requester
}

/** Asks a client to free a lock that the client keeps without use. */
export interface KeptRequest {
  readonly kind: 'kept'
  /** The id of the request; '' if the sender needs no answer. */
  readonly id: string
  /** The key of the lock on the server. */
  readonly key: string
  readonly by: Requester
}

interface RevocationAnswer {
  readonly kind: 'answer'
  /** The id of the answered request. */
  readonly id: string
  readonly client: string
  /**
   * The owners that heard the request, because their code listens to the event or to a signal. For a `KeptRequest`, the
   * key if the client has freed the lock.
   */
  readonly heard: readonly string[]
}

/** Labels and reasons are cut to this many characters. */
const MOST_CHARACTERS = 200
/**
 * Messages with more owners than this are ignored, because they probably do not come from Holdfast.
 */
const MOST_OWNERS = 10_000

const CLIENT_ID = /^[\w-]{1,64}$/

type ClientMessage = RevocationRequest | KeptRequest | RevocationAnswer

export function written(message: ClientMessage): string {
  return JSON.stringify(message)
}

/**
 * Reads a message of another client. Returns undefined for invalid messages, because any client
 * with the right to publish can send any text.
 */
export function readMessage(text: string): ClientMessage | undefined {
  const message = parsed(text)
  if (typeof message?.id !== 'string') return undefined
  if (message.kind === 'answer') {
    const { id, client, heard } = message
    if (typeof client !== 'string' || !areTexts(heard)) return undefined
    return { kind: 'answer', id, client, heard }
  }
  const { kind, id, owners, key, reason, by } = message
  const { client, label } = (by ?? {}) as Record<string, unknown>
  if (typeof client !== 'string' || !CLIENT_ID.test(client) || typeof label !== 'string')
    return undefined
  if (kind === 'kept' && typeof key === 'string') {
    return { kind, id, key, by: { client, label: shown(label) } }
  }
  if (kind !== 'request' || !areTexts(owners)) return undefined
  return {
    kind: 'request',
    id,
    owners,
    reason: typeof reason === 'string' ? shown(reason) : null,
    by: { client, label: shown(label) },
  }
}

/** Cuts a label or a reason, and escapes characters that could harm logs and errors. */
export const shown = (text: string): string => oneLine(text, MOST_CHARACTERS)

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' && message !== null ? { ...message } : undefined
  } catch {
    return undefined
  }
}

function areTexts(list: unknown): list is string[] {
  return (
    Array.isArray(list) &&
    list.length <= MOST_OWNERS &&
    list.every((one) => typeof one === 'string')
  )
}
