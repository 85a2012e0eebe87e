/**
 * The reports of the clients of one server, for other clients and for tools. A report has texts, by
 * field. The server keeps a report while its client is connected, and may delete it some minutes
 * later.
 */
export interface ClientReports {
  /** Stores a text soon, or deletes the text if it is undefined. The call waits for no answer. */
  set(clientId: string, field: string, text: string | undefined): void
  /** Deletes the report of a client soon. */
  remove(clientId: string): void
  /** Returns a text of one client; undefined if there is none. Rejects only with a `CallFailure`. */
  get(clientId: string, field: string, callMs: number): Promise<string | undefined>
  /**
   * Returns one text of each client that has this text, by client id. Rejects only with a
   * `CallFailure`.
   */
  ofAll(field: string, callMs: number): Promise<ReadonlyMap<string, string>>
}
