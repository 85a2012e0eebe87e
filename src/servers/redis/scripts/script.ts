import type { Terms } from './terms.ts'

/** A Lua script as the generator writes it down from its header. */
export interface Script<Argument extends string = string> {
  /** `<folder>/<file>` in lua/. */
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
  readonly sha1: string
  readonly source: string
}

export type Value = string | number

/** What a script is given beside its keys. */
export type Args = readonly Value[]

/** What a script is asked, and what to make of the answer. */
export interface Request<A> {
  readonly script: Script
  readonly keys: readonly string[]
  /** Called each time that it is sent; only then it is known how to publish, and until when it may run. */
  args(terms: Terms): Args
  /** Throws at what the script does not answer: it may have run all the same. */
  read(reply: unknown): A
  /** How long it may take in all, in milliseconds. */
  readonly callMs: number
  /** False where what is asked for may be another thing by the time that it is asked once more. */
  readonly asksAgain?: boolean
}
