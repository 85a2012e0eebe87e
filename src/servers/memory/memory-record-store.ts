import type { Outage, OutageListener } from '../availability/outage.ts'
import { CallFailure } from '../call-failure.ts'
import type { ClientReports } from '../client-reports.ts'
import type { Changed, NameRecord, RecordStore, ServerMoment } from '../record-store.ts'
import type { Subscription } from '../subscription.ts'
import { later } from './later.ts'
import { memoryReports } from './memory-reports.ts'
import { type MemoryLockServer, OUT } from './memory-server.ts'
import { MEMORY_WORDS } from './memory-words.ts'

/** The most names in one page of a list. */
const PAGE = 100

/** The failure of a request if the server ran it, but an outage began before the answer. */
const LOST = new CallFailure('unknown', 'the server in memory went down before it answered')

/**
 * The connection of one client to a server in memory. The server runs a request when the client
 * sends it, and answers in a later turn of the event loop. Only an outage loses answers.
 */
export class MemoryRecordStore implements RecordStore {
  readonly server: MemoryLockServer
  readonly countsListeners: boolean = true
  readonly words = MEMORY_WORDS
  readonly whyNoVote = 'is a lock in memory, which is not an independent master'
  readonly lateAtMostMs = 0
  readonly reports: ClientReports
  readonly #onOutage: OutageListener | undefined
  readonly #onUp = new Set<() => void>()
  #isConnected = false
  /**
   * When this connection noticed the outage, in ms on the monotonic clock. Undefined if this
   * connection has noticed no outage.
   */
  #outSince: number | undefined
  #closed: CallFailure | undefined

  constructor(server: MemoryLockServer, onOutage?: OutageListener) {
    this.server = server
    this.reports = memoryReports(this)
    this.#onOutage = onOutage
  }

  get clock() {
    return this.server.clock
  }

  transact<T>(
    names: readonly string[],
    callMs: number,
    change: (records: readonly NameRecord[], moment: ServerMoment) => Changed<T>,
  ): Promise<T> {
    return this.request(() => this.server.transact(names, change), callMs)
  }

  publish(channel: string, message: string, callMs: number): Promise<number | null> {
    return this.request(() => this.server.messages.publish(channel, message), callMs)
  }

  async *list(prefix: string, callMs: number): AsyncGenerator<readonly string[]> {
    const all = await this.request(() => [...this.server.records.keys()], callMs)
    const names = all.filter((name) => name.startsWith(prefix))
    for (let i = 0; i < names.length; i += PAGE) yield names.slice(i, i + PAGE)
  }

  listen(channel: string, onMessage: (message?: string) => void): Subscription {
    if (this.#closed !== undefined) return { confirmed: false, stop: () => {} }
    return this.server.messages.listen(channel, this, onMessage)
  }

  /** Ignores the time limit, because the server is in this process. */
  request<T>(work: () => T, _callMs: number): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    if (!this.#isConnected) this.connect()
    const { server } = this
    const { clock, whyOut } = server
    if (whyOut !== undefined) {
      this.wentOut()
      return new Promise((_, reject) => later(clock, () => reject(whyOut)))
    }
    server.tidy()
    return new Promise((resolve, reject) => {
      const answered = (deliver: () => void) =>
        later(clock, () => (server.whyOut === undefined ? deliver() : reject(LOST)))
      try {
        const answer = work()
        answered(() => resolve(answer))
      } catch (refusal) {
        answered(() => reject(refusal))
      }
    })
  }

  identify(callMs: number): Promise<string> {
    return this.request(() => this.server.id, callMs)
  }

  get whyDown(): CallFailure | undefined {
    return this.#closed ?? this.server.whyOut
  }

  /** True unless there is an outage now. */
  get everUp(): boolean {
    return this.server.whyOut === undefined
  }

  onUp(onUp: () => void): () => void {
    this.#onUp.add(onUp)
    return () => this.#onUp.delete(onUp)
  }

  checkAgain(): void {
    for (const onUp of [...this.#onUp]) onUp()
  }

  wentOut(): void {
    if (this.#outSince !== undefined || this.#closed !== undefined) return
    this.#outSince = this.clock.monotonic()
    this.#onOutage?.outageBegan(this.#outage(0))
  }

  cameBack(how: 'recovered' | 'closed' = 'recovered'): void {
    if (this.#outSince === undefined) return
    const durationMs = Math.round(this.clock.monotonic() - this.#outSince)
    this.#outSince = undefined
    this.#onOutage?.outageEnded(this.#outage(durationMs), how)
  }

  #outage(durationMs: number): Outage {
    return { address: 'memory', words: MEMORY_WORDS, failure: OUT, durationMs, attempts: 1 }
  }

  connect(): void {
    this.#isConnected = true
    this.server.join(this)
  }

  disconnect(): void {
    this.cameBack('closed')
    this.#closed = new CallFailure('closed', 'the client was closed')
    this.server.removeConnection(this)
  }
}
