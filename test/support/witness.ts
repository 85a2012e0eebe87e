import type { Lease } from '../../src/index.ts'

/**
 * Watches one lock from outside of it: every worker says when it is let in and when it leaves.
 * Nobody may be let in while the lease of another is valid, and tokens rise from grant to grant.
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
