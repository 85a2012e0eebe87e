import { Owner } from './owner.ts'

/** The owners of one client. Their ids are unique among all locks of the client. */
export class Owners {
  readonly clientId: string
  #made = 0

  constructor(clientId: string) {
    this.clientId = clientId
  }

  /** @param suffix follows the number in the id; it contains no `/`, `:` or space */
  next(suffix = ''): Owner {
    this.#made += 1
    return new Owner(this.clientId, `${this.#made}${suffix}`)
  }
}
