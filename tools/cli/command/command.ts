/** The output of a command, and its environment. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  /** True if `out` is a terminal. Then the output may have colours. */
  readonly isTerminal: boolean
  readonly columns: number
  readonly rows: number
  /**
   * Returns a signal that aborts on Ctrl-C, on SIGTERM, or if `out` fails, for example because its
   * reader has ended. After this call, the first Ctrl-C does not end the program.
   */
  interrupted(): AbortSignal
  /**
   * Asks the user a question. Resolves with the typed text, or with '' if the user typed nothing.
   * Undefined if stdin or stderr is not a terminal.
   */
  readonly prompt?: ((question: string) => Promise<string>) | undefined
}

export interface Command {
  readonly name: string
  /** One line about the command, for the list that `--help` prints. */
  readonly summary: string
  readonly usage: string
  /** @returns the exit code; rejects with `InvalidArgumentError` for wrong usage */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

export const EXIT = { ok: 0, findings: 1, usage: 2, failed: 3 } as const
