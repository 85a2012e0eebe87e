import { CallFailure } from './call-failure.ts'

/** Returns the words of the error, such as `a latch has this name`. */
export function hasThisName(what: string): string {
  return `${what} has this name`
}

/** The server refused a request, because an object of another kind already has the name. */
export class NameConflict extends CallFailure {
  /** States which object has the name, such as `a latch has this name`. */
  readonly words: string

  /** @param reply the error of the server, with its code */
  constructor(words: string, reply: string, cause?: unknown) {
    super('refused', reply, cause, true)
    this.words = words
  }
}
