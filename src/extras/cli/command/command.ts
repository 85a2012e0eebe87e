/** Where a command writes to, and what it is told of its surroundings. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person looks at `out`: then there may be colours. */
  readonly isTerminal: boolean
  readonly columns: number
  readonly rows: number
  /** From this call on Ctrl-C does not end the program, but aborts this; as does a reader of `out` that goes away. */
  interrupted(): AbortSignal
  /** Asks a person, and tells what was typed; '' for none. Left out where nobody can be asked. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
}

/** One command of the program, as the table of them lists it. */
export interface Command {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** What `--help` prints. */
  readonly usage: string
  /** @returns the exit code; rejects with `InvalidArgumentError` when it was called wrongly */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** What every command exits with. */
export const EXIT = { ok: 0, findings: 1, usage: 2, failed: 3 } as const
