/** A Lua script as the generator writes it down from its header. */
export interface Script {
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
  readonly sha1: string
  readonly source: string
}

/** What a script is given beside its keys. */
export type Args = readonly (string | number)[]

/** What to make of an answer as soon as it comes. It may ask again; what it throws rejects the call. */
export type Read<T> = (reply: unknown) => T | Promise<T>
