import type { OutageListener } from '../availability/outage.ts'
import { RECORD_KINDS } from '../records/kinds/all.ts'
import { RecordServer } from '../records/record-server.ts'
import { MemoryRecordStore } from './memory-record-store.ts'
import type { MemoryLockServer } from './memory-server.ts'

/** The locks of one client on a server in memory. */
export class MemoryConnection extends RecordServer<MemoryRecordStore> {
  /** @param label the label of the client, for messages on diagnostics channels */
  constructor(server: MemoryLockServer, counterMs: number, label = '', onOutage?: OutageListener) {
    // The time limit of background requests is 0, because a server in memory ignores time limits.
    super(new MemoryRecordStore(server, onOutage), counterMs, 0, label, RECORD_KINDS)
  }

  get server(): MemoryLockServer {
    return this.store.server
  }
}
