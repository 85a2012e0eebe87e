import type { Terms } from './terms.ts'

/** A Lua script, as the generator writes it from the header. */
export interface Script<Argument extends string = string> {
  /** `<folder>/<file>` in lua/. */
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
   * Called at each sending, because only then the command for messages and the deadline are known.
   */
  args(terms: Terms): Args
  /** Throws at an answer that the script never gives. The script may have run even then. */
  read(reply: unknown): A
  /** How long the whole call may take, in milliseconds. */
  readonly callMs: number
  /** False if the request may mean something else when it is sent again. */
  readonly asksAgain?: boolean
}
