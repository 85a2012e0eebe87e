import type { Requester } from '../events.ts'
import { within } from '../kit/within.ts'
import type { Hold } from '../lease/hold.ts'
import { CallFailure } from '../servers/call-failure.ts'
import { clientOf, mayBeKept, ownersByClient } from '../servers/owner-id.ts'
import type { RequestChannel } from '../servers/request-channel.ts'
import type { Limits } from '../waiting/limits.ts'
import type { HolderRequests } from './holder-requests.ts'
import type { Kept } from './kept.ts'
import { OpenRevocation } from './open-revocation.ts'
import { RequestInbox } from './request-inbox.ts'
import {
  type KeptRequest,
  type RevocationRequest,
  readMessage,
  shown,
  written,
} from './revocation-messages.ts'

interface RevocationClient extends Requester {
  readonly requests: HolderRequests
  holds(): readonly Hold[]
  /** Returns the `Kept` of the lock with this key; undefined if no call of this client has asked to keep the lock. */
  kept(key: string): Kept | undefined
  allKept(): readonly Kept[]
}

/**
 * Calls `send` with the time limit of one attempt, in milliseconds. After a failure, calls `send`
 * again.
 */
type RetriedRequest = (send: (callMs: number) => Promise<number | null>) => Promise<number | null>

/**
 * How long a call that does not wait for a lock waits for the answer of the client that keeps the lock, in
 * milliseconds.
 */
const KEPT_ANSWER_MS = 500

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
  /** True if this client may keep locks. It then needs the inbox until it closes. */
  #keeps = false
  #keptRequests = 0

  constructor(channel: RequestChannel, client: RevocationClient, limits: Limits) {
    this.#channel = channel
    this.#client = client
    this.#limits = limits
    this.#stopChannel = client.requests.add(() => client.holds())
    this.#inbox = new RequestInbox(channel, client.client, limits.clock, {
      isNeeded: () => this.#keeps || this.#open.size > 0 || this.#hasListeners(),
      received: (message) => this.#received(message),
      missed: () => {
        for (const kept of this.#client.allKept()) if (kept.owner !== undefined) void kept.wanted()
      },
    })
  }

  started(): void {
    if (this.#client.requests.hasListeners) this.#inbox.open()
  }

  /** Opens the inbox if code listens to release requests for a hold. */
  listenerAdded(): void {
    if (this.#hasListeners()) this.#inbox.open()
  }

  /** Opens the inbox, so that other clients can ask for the locks that this client keeps. */
  startListening(): void {
    this.#keeps = true
    this.#inbox.open()
  }

  /** Since when this client has received each message of other clients, on the monotonic clock; Infinity for never. */
  get listeningSince(): number {
    return this.#inbox.listeningSince
  }

  /**
   * If the client of the holder may keep the lock without use, asks that client to free the lock. Does not wait for the
   * answer.
   */
  wants(key: string, holder: string): void {
    const to = this.#keeperOf(holder)
    if (to === undefined) return
    const { commandTimeoutMs } = this.#limits
    // If the message is lost, the waiter sends another message after its next check.
    this.#channel.send(to, this.#keptRequest('', key), commandTimeoutMs).catch(() => {})
  }

  /** Like {@link wants}, for a call that watches the lock. Also frees the lock if this client itself keeps the lock. */
  watches(key: string, holder: string): void {
    if (clientOf(holder) === this.#client.client) void this.#client.kept(key)?.wanted()
    else this.wants(key, holder)
  }

  /**
   * Like {@link wants}, but waits for the answer.
   *
   * @returns resolves with true if the lock was kept and is free now; undefined if no other client can keep the lock
   */
  freeKept(key: string, holder: string): Promise<boolean> | undefined {
    const to = this.#keeperOf(holder)
    return to === undefined ? undefined : this.#freeAt(to, key)
  }

  /** Returns the client that may keep the lock without use; undefined for no client, and for this client. */
  #keeperOf(holder: string): string | undefined {
    const client = mayBeKept(holder) ? clientOf(holder) : undefined
    return client === this.#client.client ? undefined : client
  }

  async #freeAt(to: string, key: string): Promise<boolean> {
    this.#keptRequests += 1
    const id = `${this.#client.client}/${this.#keptRequests}`
    const open = new OpenRevocation([to])
    this.#open.set(id, open)
    try {
      const listeners = await this.#send(to, this.#keptRequest(id, key), KEPT_ANSWER_MS)
      if (listeners !== 0) await within(KEPT_ANSWER_MS, open.done, this.#limits.clock)
    } catch {
      // Without an answer, the lock counts as held.
    } finally {
      this.#open.delete(id)
    }
    return open.heard > 0
  }

  #keptRequest(id: string, key: string): string {
    const { client, label } = this.#client
    return written({ kind: 'kept', id, key, by: { client, label: shown(label) } })
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
    const { client, label } = this.#client
    const by = { client, label: shown(label) }
    const words = reason === null ? null : shown(reason)
    const requestTo = (theirs: readonly string[]): RevocationRequest => {
      return { kind: 'request', id, owners: theirs, reason: words, by }
    }
    const others = ownersByClient(owners)
    const receivedHere = this.#receive(requestTo(others.get(client) ?? [])).length
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
  #hasListeners(): boolean {
    const { requests } = this.#client
    return this.#client.holds().some((hold) => requests.hasListener(hold))
  }

  #received(text: string): void {
    const message = readMessage(text)
    if (message?.kind === 'answer') {
      this.#open.get(message.id)?.answered(message.client, message.heard.length)
    } else if (message?.kind === 'kept') {
      void this.#freeFor(message)
    } else if (message !== undefined) {
      this.#answer(message, this.#receive(message))
    }
  }

  async #freeFor(request: KeptRequest): Promise<void> {
    const isFreed = await this.#client.kept(request.key)?.wanted()
    if (request.id !== '') this.#answer(request, isFreed ? [request.key] : [])
  }

  #answer({ id, by }: RevocationRequest | KeptRequest, heard: readonly string[]): void {
    const answer = written({ kind: 'answer', id, client: this.#client.client, heard })
    // If the answer cannot be sent, the requester does not learn that the owners in `heard` were asked.
    this.#channel.send(by.client, answer, this.#limits.commandTimeoutMs).catch(() => {})
  }

  /** Passes the request to the holders, and frees kept locks. Returns the owners that heard the request. */
  #receive(request: RevocationRequest): readonly string[] {
    const freed = this.#client.allKept().flatMap((kept) => {
      const { owner } = kept
      if (owner === undefined || !request.owners.includes(owner)) return []
      void kept.wanted()
      return [owner]
    })
    return [...this.#client.requests.receive(request), ...freed]
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
