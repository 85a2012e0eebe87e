import type { HeartbeatAnswer, QueueAnswer, Released } from '../answers.ts'
import type {
  FairAttempt,
  FairGrant,
  FairServer,
  LocalPlaces,
  RemoteFairLock,
} from '../fair-server.ts'
import { WHAT_HAS_IT } from '../number-kind.ts'
import { replyWith } from '../reply.ts'
import type { RecordClient, ServerKind } from '../server-kind.ts'
import type { Subscription } from '../subscription.ts'
import { acquireInTurn, beatOnce, endFairHold } from './fair.ts'
import { grantChannel, type WaitingProcess } from './fair-grants.ts'
import { changeRecord, changeRecords } from './open-record.ts'

/** The fair locks, as one client uses them. */
class RecordFairServer implements FairServer {
  readonly #client: RecordClient

  constructor(client: RecordClient) {
    this.#client = client
  }

  get countsListeners(): boolean {
    return this.#client.store.countsListeners
  }

  lock(rawName: string): RemoteFairLock {
    return {
      rawName,
      acquire: (attempt, reply) => replyWith(this.#acquire(rawName, attempt), reply),
      endHold: (owner, token, _callMs, reply) =>
        replyWith(this.#endHold(rawName, owner, token), reply),
      abandon: (owner, untilMs, leaseMs) => {
        const send = () => this.#endHold(rawName, owner, '')
        const of = { key: rawName, owner }
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
  ): Promise<(HeartbeatAnswer | string)[]> {
    const { store, counterMs } = this.#client
    const process = this.#process(listens())
    const all = locks.map(({ rawName, places }) => ({ rawName, asked: places() }))
    const names = locks.map(({ rawName }) => rawName)
    return changeRecords(store, names, (recordOf) =>
      all.map(({ rawName, asked }) => beatOnce(recordOf(rawName), asked, process, counterMs)),
    )
  }

  #acquire(rawName: string, attempt: FairAttempt): Promise<QueueAnswer> {
    const { store, counterMs } = this.#client
    const process = this.#process(attempt.listens())
    return changeRecord(store, rawName, (record) =>
      acquireInTurn(record, attempt, process, counterMs),
    )
  }

  #endHold(rawName: string, owner: string, token: number | ''): Promise<Released> {
    const { store, clientId, counterMs } = this.#client
    return changeRecord(store, rawName, (record) =>
      endFairHold(record, { owner, token }, clientId, counterMs),
    )
  }

  #process(listens: boolean): WaitingProcess {
    const { clientId, label } = this.#client
    return { clientId, label, listens }
  }
}

export const FAIR: ServerKind<FairServer> = {
  name: 'fair',
  what: WHAT_HAS_IT.lock,
  onRecords: (client) => new RecordFairServer(client),
}
