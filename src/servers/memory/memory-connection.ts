import type { CallFailure } from '../call-failure.ts'
import type { LockServer } from '../lock-server.ts'
import type { OutageListener } from '../outage.ts'
import type { OwnInfo, Presence } from '../presence.ts'
import { RecordServer } from '../records/record-server.ts'
import { MemoryPresence } from './memory-presence.ts'
import { MemoryRecordStore } from './memory-record-store.ts'
import type { MemoryLockServer } from './memory-server.ts'

/** The locks of one client on a server in memory. */
export class MemoryConnection extends RecordServer<MemoryRecordStore> implements LockServer {
  readonly whyNoVote = 'is a lock in memory, which is not an independent master'
  readonly lateAtMostMs = 0
  #presence: MemoryPresence | undefined

  /** @param label the label of the client, for messages on diagnostics channels */
  constructor(server: MemoryLockServer, counterMs: number, label = '', onOutage?: OutageListener) {
    // Each release has a time limit of 0 ms, because an answer takes no time.
    super(new MemoryRecordStore(server, onOutage), counterMs, 0, label)
  }

  get server(): MemoryLockServer {
    return this.store.server
  }

  presenceFor(own: OwnInfo): Presence {
    this.#presence = new MemoryPresence(this.store, own)
    return this.#presence
  }

  identify(): Promise<string> {
    return this.store.request(() => this.server.id)
  }

  get whyDown(): CallFailure | undefined {
    return this.store.whyDown
  }

  /** True unless there is an outage now. */
  get everUp(): boolean {
    return this.server.whyOut === undefined
  }

  onUp(onUp: () => void): () => void {
    return this.store.onUp(onUp)
  }

  connect(): void {
    this.store.connect()
  }

  disconnect(): void {
    this.pendingReleases.stopAll()
    this.store.disconnect()
    this.#presence?.withdraw()
  }
}
