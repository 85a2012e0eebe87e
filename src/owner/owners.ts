import { Owner } from './owner.ts'

/** Makes the owners of one client. Each owner of the client has a different id. */
export class Owners {
  readonly clientId: string
  #made = 0

  constructor(clientId: string) {
    this.clientId = clientId
  }

  /**
   * Makes a new owner.
   *
   * @param suffix text after the number in the id; without `/`, `:` and space
   */
  next(suffix = ''): Owner {
    this.#made += 1
    return new Owner(this.clientId, `${this.#made}${suffix}`)
  }
}
