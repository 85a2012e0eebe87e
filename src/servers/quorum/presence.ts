import { clientOf } from '../owner-id.ts'
import type { ClientInfo, Presence } from '../presence.ts'

/** Reports a client to all masters, so that each master can inform other clients. */
export class QuorumPresence implements Presence {
  readonly #each: readonly Presence[]

  constructor(each: readonly Presence[]) {
    this.#each = each
  }

  renews(leaseMs: number): void {
    for (const one of this.#each) one.renews(leaseMs)
  }

  set(owner: string, text: string | undefined): void {
    for (const one of this.#each) one.set(owner, text)
  }

  reportWaits(waits: string): void {
    for (const one of this.#each) one.reportWaits(waits)
  }

  async get(owner: string): Promise<string | undefined> {
    return firstKnown(this.#each.map((one) => one.get(owner)))
  }

  async clientInfo(client: string, callMs: number): Promise<ClientInfo | null> {
    const asked = this.#each.map((one) => one.clientInfo(clientOf(client), callMs))
    return (await firstKnown(asked)) ?? null
  }

  withdraw(): void {
    for (const one of this.#each) one.withdraw()
  }
}

/**
 * Returns the first answer that is not null or undefined; otherwise undefined. Rejects only if all
 * masters failed.
 */
async function firstKnown<T>(asked: readonly Promise<T | null | undefined>[]) {
  const known = asked.map((one) => one.then((found) => found ?? Promise.reject(NOTHING)))
  try {
    return await Promise.any(known)
  } catch (error) {
    const { errors } = error as AggregateError
    if (errors.includes(NOTHING)) return undefined
    throw errors[0]
  }
}

const NOTHING = Symbol('nothing is known')
