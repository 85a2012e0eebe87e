/**
 * One request of this client to other clients. `done` resolves when no answer is missing, or when
 * this client closes.
 */
export class OpenRevocation {
  readonly done: Promise<void>
  heard = 0
  readonly #due: Set<string>
  #resolve!: () => void

  constructor(clients: Iterable<string>) {
    this.#due = new Set(clients)
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /**
   * Called when a client has answered, or does not listen. Counts only the first answer of each
   * client.
   *
   * @param heard the number of owners of this client that heard the request
   */
  answered(client: string, heard: number): void {
    if (!this.#due.delete(client)) return
    this.heard += heard
    if (this.#due.size === 0) this.#resolve()
  }

  finish(): void {
    this.#resolve()
  }
}
