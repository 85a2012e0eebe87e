/** The words of error messages about one kind of server. */
export interface ServerWords {
  /** The name of the server in a sentence. */
  readonly name: string
  /** A sentence with the advice for the user if the server does not answer. */
  readonly ifSilent: string
  /** The words for the client that users need for kinds that independent masters do not have. */
  readonly oneServer: string
  /**
   * A space and the words after a conflict of kinds in an error, such as ` (WRONGTYPE)`. '' if the
   * server has no such words.
   */
  readonly afterConflict: string
  /** Returns a space and the advice for an error of the server; '' if there is no advice. */
  stepAfter(reply: string): string
  /**
   * Returns the advice for a failure whose message contains the reason of each of several servers.
   * Undefined for other failures. Left out for a single server.
   */
  stepOfMasters?(message: string): string | undefined
}
