import { Owner } from './owner.ts'

/** The owners of one client. All owners of the client have different ids. */
export class Owners {
  readonly clientId: string
  #made = 0

  constructor(clientId: string) {
    this.clientId = clientId
  }

  /** @param suffix the end of the id, after a number; without `/`, `:` and space */
  next(suffix = ''): Owner {
    this.#made += 1
    return new Owner(this.clientId, `${this.#made}${suffix}`)
  }
}
