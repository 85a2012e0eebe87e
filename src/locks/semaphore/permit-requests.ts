import type { LocalLocks } from '../../local/local-locks.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import { MOST_LISTED } from '../../servers/facts.ts'
import { headOf, headOfIds } from '../../servers/permit-ids.ts'
import type { PermitChange, PermitFacts, RemotePermits } from '../../servers/permit-server.ts'
import { OF_SEMAPHORE, outcomeWords } from './semaphore-words.ts'
import { fetchClientInfo, type WhyNoPermits, whyNoPermits } from './why-no-permits.ts'

/**
 * The requests of one client for one semaphore whose permits have leases. Acquisitions are not part
 * of this class.
 */
export class PermitRequests {
  readonly #name: string
  readonly #rawName: string
  readonly #locks: LocalLocks
  readonly #remote: RemotePermits
  readonly #setBy: string

  constructor(
    { name, rawName }: { readonly name: string; readonly rawName: string },
    setBy: string,
    locks: LocalLocks,
    remote: RemotePermits,
  ) {
    this.#name = name
    this.#rawName = rawName
    this.#setBy = setBy
    this.#locks = locks
    this.#remote = remote
  }

  change(how: PermitChange['how'], permits: number): Promise<number> {
    const request = this.#newRequest()
    const failed = outcomeWords(
      'the number of its permits was',
      'changed',
      this.#locks.limits.words,
    )
    return this.#request(failed, (callMs) =>
      this.#remote.change({ how, permits, ...request }, callMs),
    )
  }

  inspect(most: number): Promise<PermitFacts> {
    return this.#request(
      () => 'its permits were not read',
      (callMs) => this.#remote.inspect(most, callMs),
    )
  }

  /** @returns true if all these permits were still taken */
  async releaseIds(ids: readonly string[]): Promise<boolean> {
    const request = this.#newRequest()
    const failed = outcomeWords('the permits were', 'released', this.#locks.limits.words)
    const wereTaken = await this.#request(failed, (callMs) =>
      this.#remote.releaseIds(ids, request, callMs),
    )
    const heads = new Set(ids.map(headOf))
    const isOfThem = (owner: string) => heads.has(headOfIds(owner))
    this.#lose(isOfThem, 'release() of the semaphore took permits away by their ids')
    return wereTaken
  }

  /** @returns true if the semaphore existed */
  async delete(): Promise<boolean> {
    // Before the answer arrives, another call may acquire permits of a new semaphore. So only holds
    // from before the deletion are lost.
    const owners = new Set(this.#local?.holds.all.map(({ id }) => id.ownerId))
    const deleted = await this.change('delete', 0)
    this.#lose((owner) => owners.has(owner), 'delete() of the semaphore took its permits away')
    return deleted === 1
  }

  async why(): Promise<WhyNoPermits> {
    const { permits, available, taken, holders, waiting } = await this.inspect(MOST_LISTED)
    const known = holders.flatMap(({ owner, ageMs, permits: count }) =>
      owner === null || ageMs === null ? [] : [{ owner, ageMs, permits: count }],
    )
    const sight = {
      ...{ name: this.#name, setBy: this.#setBy, isSet: permits !== null },
      ...{ available, taken, waiting, holders: known },
    }
    await fetchClientInfo(known, this.#locks)
    return whyNoPermits(sight, this.#locks, this.#locks.clock.now().wall)
  }

  get #local() {
    return this.#locks.find(this.#rawName)
  }

  /**
   * Ends holds of this client as lost, after their permits were released by id or the semaphore was
   * deleted. Then wakes the first waiter of this client.
   *
   * @param how the cause in words, for the error
   */
  #lose(isMeant: (owner: string) => boolean, how: string): void {
    const lock = this.#local
    if (lock === undefined) return
    for (const hold of lock.holds.all) if (isMeant(hold.id.ownerId)) hold.lose('forced', how)
    lock.checkAgain()
  }

  #newRequest() {
    const { outageMs, commandTimeoutMs } = this.#locks.limits
    // The server must store the answer for longer than the client may repeat the request.
    const keptMs = 2 * (outageMs + commandTimeoutMs)
    return { request: this.#locks.newOwner().newOwnerId(), keptMs }
  }

  #request<T>(
    failed: (failure: CallFailure) => string,
    call: (callMs: number) => Promise<T>,
  ): Promise<T> {
    return this.#locks.request(this.#name, failed, call, OF_SEMAPHORE)
  }
}
