import type { Terms } from './terms.ts'

/** A Lua script, with the facts that the generator reads from its header. */
export interface Script<Argument extends string = string> {
  /** The file of the script in lua/, as `<folder>/<file>` without the ending. */
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
  readonly sha1: string
  readonly source: string
}

export type Value = string | number

/** The arguments of a script, without its keys. */
export type Args = readonly Value[]

/** A call of a script, and how to read its answer. */
export interface Request<A> {
  readonly script: Script
  readonly keys: readonly string[]
  /**
   * Makes the arguments. Called at each sending, because only then the deadline and the command for
   * messages are known.
   */
  args(terms: Terms): Args
  /**
   * Converts the answer. Throws at an answer that the script never gives. The script may have run
   * even then.
   */
  read(reply: unknown): A
  /** How long the whole call may take, in milliseconds. */
  readonly callMs: number
  /**
   * False if a repeat of the request may have another effect, so that the request is not sent
   * again. By default it is true.
   */
  readonly asksAgain?: boolean
}
