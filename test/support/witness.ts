import type { Lease } from '../../src/index.ts'

/**
 * Observes one lock from outside. Workers report each acquisition and each end of their work. `Witness` records a
 * violation if two valid leases overlap, or if a token is not greater than all tokens before it.
 */
export class Witness {
  readonly violations: string[] = []
  grants = 0
  #lastToken = 0
  readonly #inside = new Set<Lease>()

  enter(lease: Lease): void {
    this.grants += 1
    if (!lease.valid) return
    for (const other of this.#inside) {
      if (other.valid) this.violations.push(`${lease.token} was let in while ${other.token} was`)
    }
    if (lease.token <= this.#lastToken) {
      this.violations.push(`token ${lease.token} came after ${this.#lastToken}`)
    }
    this.#lastToken = Math.max(this.#lastToken, lease.token)
    this.#inside.add(lease)
  }

  leave(lease: Lease): void {
    this.#inside.delete(lease)
  }
}
