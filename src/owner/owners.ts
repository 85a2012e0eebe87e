import { Owner } from './owner.ts'

/** The owners of one client. Their ids are unique in it, whichever of its locks they are for. */
export class Owners {
  readonly clientId: string
  #made = 0

  constructor(clientId: string) {
    this.clientId = clientId
  }

  /** @param suffix what its name is to tell beside the number: no `/`, `:` or space is in it */
  next(suffix = ''): Owner {
    this.#made += 1
    return new Owner(this.clientId, `${this.#made}${suffix}`)
  }
}
