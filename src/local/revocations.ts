import type { Requester } from '../events.ts'
import { within } from '../kit/within.ts'
import type { Hold } from '../lease/hold.ts'
import { CallFailure } from '../servers/call-failure.ts'
import { clientOf, isOfHoldfast } from '../servers/owner-id.ts'
import type { RequestChannel } from '../servers/request-channel.ts'
import type { Limits } from '../waiting/retry-budget.ts'
import type { HolderRequests } from './holder-requests.ts'
import { RequestInbox } from './request-inbox.ts'
import { type RevocationRequest, readMessage, shown, written } from './revocation-messages.ts'

interface RevocationClient extends Requester {
  readonly requests: HolderRequests
  holds(): readonly Hold[]
}

/**
 * Calls `send` with the time limit of one attempt, in milliseconds. After a failure, calls `send`
 * again.
 */
type RetriedRequest = (send: (callMs: number) => Promise<number | null>) => Promise<number | null>

/**
 * Sends release requests to other clients, and receives their requests. The holder may ignore a
 * request, and no request ends a hold by force.
 */
export class Revocations {
  readonly #channel: RequestChannel
  readonly #client: RevocationClient
  readonly #limits: Limits
  readonly #inbox: RequestInbox
  readonly #stopChannel: () => void
  /** The requests of this client that still wait for answers, by request id. */
  readonly #open = new Map<string, OpenRevocation>()

  constructor(channel: RequestChannel, client: RevocationClient, limits: Limits) {
    this.#channel = channel
    this.#client = client
    this.#limits = limits
    this.#stopChannel = client.requests.add(() => client.holds())
    this.#inbox = new RequestInbox(channel, client.client, limits.clock, {
      isNeeded: () => this.#open.size > 0 || this.#isListening(),
      received: (message) => this.#received(message),
    })
  }

  started(): void {
    if (this.#client.requests.hasListeners) this.#inbox.open()
  }

  /** Opens the inbox if code listens to release requests for a hold. */
  listenerAdded(): void {
    if (this.#isListening()) this.#inbox.open()
  }

  /**
   * Returns the signal that aborts when a client requests the release of the hold. If the hold is
   * live, this client receives release requests from now on.
   */
  signalOf(hold: Hold): AbortSignal {
    if (hold.live) this.#inbox.open()
    return this.#client.requests.signalOf(hold)
  }

  /**
   * Requests the release of the holds of these owners.
   *
   * @param id the id of the request; no other request has this id
   * @returns the number of owners that heard the request
   */
  async request(
    id: string,
    owners: readonly string[],
    reason: string | null,
    send: RetriedRequest,
  ): Promise<number> {
    const { client, label, requests } = this.#client
    const by = { client, label: shown(label) }
    const words = reason === null ? null : shown(reason)
    const requestTo = (theirs: readonly string[]): RevocationRequest => {
      return { kind: 'request', id, owners: theirs, reason: words, by }
    }
    const others = byClient(owners)
    const receivedHere = requests.receive(requestTo(others.get(client) ?? [])).length
    others.delete(client)
    if (others.size === 0) return receivedHere
    const open = new OpenRevocation(others.keys())
    this.#open.set(id, open)
    try {
      const sending = [...others].map(async ([to, theirs]) => {
        const message = written(requestTo(theirs))
        const listeners = await send((callMs) => this.#send(to, message, callMs))
        if (listeners === 0) open.answered(to, 0)
      })
      await Promise.all(sending)
      await within(this.#limits.commandTimeoutMs, open.done, this.#limits.clock)
    } finally {
      this.#open.delete(id)
    }
    return receivedHere + open.heard
  }

  stopListening(): void {
    this.#stopChannel()
    this.#inbox.stopListening()
    for (const open of this.#open.values()) open.finish()
  }

  /** True if code in this client listens to release requests for a hold. */
  #isListening(): boolean {
    const { requests } = this.#client
    return this.#client.holds().some((hold) => requests.hasListener(hold))
  }

  #received(text: string): void {
    const message = readMessage(text)
    if (message?.kind === 'answer') {
      this.#open.get(message.id)?.answered(message.client, message.heard.length)
    } else if (message !== undefined) {
      const { id, by } = message
      const heard = this.#client.requests.receive(message)
      const answer = written({ kind: 'answer', id, client: this.#client.client, heard })
      // If the answer cannot be sent, the requester does not learn that the owners in `heard` were asked.
      this.#channel.send(by.client, answer, this.#limits.commandTimeoutMs).catch(() => {})
    }
  }

  async #send(to: string, message: string, callMs: number): Promise<number | null> {
    const { clock } = this.#limits
    const endsAt = clock.monotonic() + callMs
    const isConfirmed = await this.#inbox.isConfirmed(callMs)
    if (this.#inbox.isClosed) throw new CallFailure('closed', 'the client was closed')
    if (!isConfirmed) {
      const why = `this client could not subscribe to its channel ${this.#channel.name} for answers`
      throw new CallFailure('unsent', why)
    }
    return this.#channel.send(to, message, Math.max(1, endsAt - clock.monotonic()))
  }
}

function byClient(owners: readonly string[]): Map<string, string[]> {
  const all = new Map<string, string[]>()
  for (const owner of new Set(owners)) {
    // Clients of Redisson receive no release requests.
    if (!isOfHoldfast(owner)) continue
    const client = clientOf(owner)
    all.set(client, [...(all.get(client) ?? []), owner])
  }
  return all
}

/**
 * One request of this client to other clients. `done` resolves when no answer is missing, or when
 * this client closes.
 */
class OpenRevocation {
  readonly done: Promise<void>
  heard = 0
  readonly #due: Set<string>
  #resolve!: () => void

  constructor(clients: Iterable<string>) {
    this.#due = new Set(clients)
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /**
   * Called when a client has answered, or does not listen. Counts only the first answer of each
   * client.
   *
   * @param heard the number of owners of this client that heard the request
   */
  answered(client: string, heard: number): void {
    if (!this.#due.delete(client)) return
    this.heard += heard
    if (this.#due.size === 0) this.#resolve()
  }

  finish(): void {
    this.#resolve()
  }
}
