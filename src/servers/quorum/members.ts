import type { Master } from './master.ts'

/** The parts of a quorum that treat all masters in the same way. */
export class Members {
  readonly masters: readonly Master[]

  constructor(masters: readonly Master[]) {
    this.masters = masters
  }

  get lateAtMostMs(): number {
    return Math.max(...this.masters.map(({ server }) => server.lateAtMostMs))
  }

  get everUp(): boolean {
    return this.masters.some(({ server }) => server.everUp)
  }

  onUp(onUp: () => void): () => void {
    const ignore = this.masters.map(({ server }) => server.onUp(onUp))
    return () => {
      for (const one of ignore) one()
    }
  }

  connect(): void {
    for (const { server } of this.masters) server.connect()
  }
}
