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

/** What to make of an answer as soon as it comes. It may ask again; what it throws rejects the call. */
export type Read<T> = (reply: unknown) => T | Promise<T>
