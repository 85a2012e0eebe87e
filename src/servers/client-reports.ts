/**
 * The reports that clients of one server store about themselves, as texts by field. Other clients
 * and tools read the reports. The server keeps a report while its client is connected. Some minutes
 * after the connection has ended, the server may delete the report.
 */
export interface ClientReports {
  /** Stores a text; undefined deletes the text. The call does not wait for the server. */
  set(clientId: string, field: string, text: string | undefined): void
  /** Deletes the report of a client. The call does not wait for the server. */
  remove(clientId: string): void
  /** Returns a text of one client; undefined if there is none. Rejects only with a `CallFailure`. */
  get(clientId: string, field: string, callMs: number): Promise<string | undefined>
  /**
   * Returns the texts of one field in all reports, by client id. Rejects only with a `CallFailure`.
   */
  ofAll(field: string, callMs: number): Promise<ReadonlyMap<string, string>>
}
