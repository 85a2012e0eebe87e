import type { Master } from './master.ts'

/** What is asked of all masters of a quorum alike. */
export class Members {
  readonly #masters: readonly Master[]

  constructor(masters: readonly Master[]) {
    this.#masters = masters
  }

  get lateAtMostMs(): number {
    return Math.max(...this.#masters.map(({ node }) => node.lateAtMostMs))
  }

  get everUp(): boolean {
    return this.#masters.some(({ node }) => node.everUp)
  }

  connect(): void {
    for (const { node } of this.#masters) node.connect()
  }

  async quiet(): Promise<void> {
    await Promise.all(this.#masters.map((master) => master.quiet()))
  }
}
