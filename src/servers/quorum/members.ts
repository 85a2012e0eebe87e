import type { Master } from './master.ts'

/** What is asked of all masters of a quorum alike. */
export class Members {
  readonly #masters: readonly Master[]

  constructor(masters: readonly Master[]) {
    this.#masters = masters
  }

  get lateAtMostMs(): number {
    return Math.max(...this.#masters.map(({ server }) => server.lateAtMostMs))
  }

  get everUp(): boolean {
    return this.#masters.some(({ server }) => server.everUp)
  }

  connect(): void {
    for (const { server } of this.#masters) server.connect()
  }

  async quiet(): Promise<void> {
    await Promise.all(this.#masters.map((master) => master.quiet()))
  }
}
