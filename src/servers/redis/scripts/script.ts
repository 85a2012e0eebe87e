import type { Terms } from './terms.ts'

/** The text of a Lua script, with the facts that the generator reads from its header. */
export interface Script {
  /** The file of the script in lua/, as `<folder>/<file>` without the ending. */
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
  readonly sha1: string
  readonly source: string
}

export type Value = string | number

/** The arguments of a script, without its keys. */
export type Args = readonly Value[]

/** The empty arguments for a script that needs none from its caller. */
export type NoArgs = Readonly<Record<string, never>>

/**
 * A script as its callers use it. `Names` are the names of its keys and channels, `Given` the
 * arguments of the caller.
 */
export interface Binding<Names, Given, Answer> {
  readonly script: Script
  readonly keysOf: (names: Names) => readonly string[]
  /** Puts the arguments of the caller and the connection in the order of the header. */
  readonly argsOf: (given: Given, terms: Terms, names: Names) => Args
  /**
   * Converts the answer. Throws at an answer that the script never gives. The script may have run
   * even then.
   */
  readonly read: (reply: unknown) => Answer
  /**
   * False if a repeat may have another effect. The client then does not repeat a request that the
   * server refused as late. True by default.
   */
  readonly asksAgain?: boolean
}

/**
 * The arguments of the caller, or a function that makes them. The function is called at each
 * sending, because some arguments are known only then.
 */
export type GivenSource<Given> = Given | ((terms: Terms) => Given)
