/** The words of error messages about one kind of server. */
export interface ServerWords {
  /** The name of the server in a sentence. */
  readonly name: string
  /** A sentence with the advice for the user if the server does not answer. */
  readonly ifSilent: string
  /**
   * The words for a client with one server. Errors recommend this client if independent masters do
   * not support a kind.
   */
  readonly oneServer: string
  /**
   * The code of the server's error for a name that another kind has, such as `WRONGTYPE`. '' if the
   * server has no such code.
   */
  readonly conflictCode: string
  /** Returns a space and the advice for a failed call; '' if there is no advice. */
  stepAfter(failure: Error): string
  /**
   * Returns the advice for a failure that contains the reason of each master; undefined for other
   * failures. Only the words for independent masters have this function.
   */
  stepOfMasters?(failure: unknown): string | undefined
}
