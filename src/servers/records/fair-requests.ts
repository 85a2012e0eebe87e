import type { HeartbeatAnswer, QueueAnswer, Released } from '../answers.ts'
import type {
  FairAttempt,
  FairGrant,
  FairServer,
  LocalPlaces,
  RemoteFairLock,
} from '../fair-server.ts'
import type { Remaining } from '../remaining.ts'
import { replyWith } from '../reply.ts'
import type { Subscription } from '../subscription.ts'
import { acquireInTurn, beatOnce, endFairHold } from './fair.ts'
import { grantChannel, type WaitingProcess } from './fair-grants.ts'
import { renewLock } from './lock.ts'
import { changeRecord, changeRecords } from './open-record.ts'
import type { RecordClient, RecordKind } from './record-kind.ts'

class RecordFairServer implements FairServer {
  readonly #client: RecordClient

  constructor(client: RecordClient) {
    this.#client = client
  }

  lock(rawName: string): RemoteFairLock {
    return {
      rawName,
      acquire: (attempt, reply) => replyWith(this.#acquire(rawName, attempt), reply),
      confirm: (owner, leaseMs, callMs, reply) =>
        replyWith(this.#confirm(rawName, owner, leaseMs, callMs), reply),
      endHold: (ending, reply) => replyWith(this.#endHold(rawName, ending), reply),
      abandon: (owner, untilMs, leaseMs) => {
        const send = (callMs: number) => this.#endHold(rawName, { owner, token: '', callMs })
        const of = { rawName, owner }
        this.#client.pendingReleases.add({ send, of, untilMs, leaseMs })
      },
    }
  }

  listen(onGrant: (grant?: FairGrant) => void): Subscription {
    const { store, clientId } = this.#client
    return store.listen(grantChannel(clientId), (message) =>
      onGrant(message === undefined ? undefined : JSON.parse(message)),
    )
  }

  beat(
    locks: readonly LocalPlaces[],
    listens: () => boolean,
    callMs: number,
  ): Promise<(HeartbeatAnswer | string)[]> {
    const { store, counterMs } = this.#client
    const process = this.#process(listens())
    const all = locks.map(({ rawName, places }) => ({ rawName, asked: places() }))
    const names = locks.map(({ rawName }) => rawName)
    return changeRecords(store, names, callMs, (recordOf) =>
      all.map(({ rawName, asked }) => beatOnce(recordOf(rawName), asked, process, counterMs)),
    )
  }

  #acquire(rawName: string, attempt: FairAttempt): Promise<QueueAnswer> {
    const { store, counterMs } = this.#client
    const process = this.#process(attempt.listens())
    return changeRecord(store, rawName, attempt.callMs, (record) =>
      acquireInTurn(record, attempt, process, counterMs),
    )
  }

  #confirm(rawName: string, owner: string, leaseMs: number, callMs: number): Promise<Remaining> {
    const { store, counterMs } = this.#client
    return changeRecord(store, rawName, callMs, (record) =>
      renewLock(record, owner, { leaseMs, counterMs }),
    )
  }

  #endHold(
    rawName: string,
    ending: Parameters<typeof endFairHold>[1] & { readonly callMs: number },
  ): Promise<Released> {
    const { store, clientId, counterMs } = this.#client
    return changeRecord(store, rawName, ending.callMs, (record) =>
      endFairHold(record, ending, clientId, counterMs),
    )
  }

  #process(listens: boolean): WaitingProcess {
    const { clientId, label, store } = this.#client
    return { clientId, label, listens: listens && store.countsListeners }
  }
}

export const recordFair: RecordKind<FairServer> = (client) => new RecordFairServer(client)
