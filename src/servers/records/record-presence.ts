import type { ClientReports } from '../client-reports.ts'
import { clientOf } from '../owner-id.ts'
import { type ClientInfo, type OwnInfo, type Presence, readClientInfo } from '../presence.ts'

/** The field with the identity of the client. */
export const ABOUT = 'about'
/** The field with the locks that the client waits for. */
export const WAITS = 'waits'

/** The field with the note about an owner. */
const noteField = (owner: string) => `note/${owner}`

/** Reports one client to the other clients of a server without scripts. */
export class RecordPresence implements Presence {
  readonly #reports: ClientReports
  readonly #callMs: number
  readonly #client: string
  /** True while the client reports itself. */
  #tells: boolean

  /** @param callMs how long it may take to read a note, in milliseconds */
  constructor(reports: ClientReports, callMs: number, { info, tells }: OwnInfo) {
    this.#reports = reports
    this.#callMs = callMs
    this.#client = info.client
    this.#tells = tells
    this.#report(ABOUT, JSON.stringify(info))
  }

  /** Does nothing, because the server keeps a report for as long as the client is connected. */
  renews(): void {}

  reportWaits(waits: string): void {
    this.#report(WAITS, waits)
  }

  set(owner: string, text: string | undefined): void {
    this.#report(noteField(owner), text)
  }

  get(owner: string): Promise<string | undefined> {
    const note = this.#reports.get(clientOf(owner), noteField(owner), this.#callMs)
    return note.catch(() => undefined)
  }

  async clientInfo(clientId: string, callMs: number): Promise<ClientInfo | null> {
    const about = await this.#reports.get(clientId, ABOUT, callMs)
    return readClientInfo(clientId, about ?? null)
  }

  withdraw(): void {
    if (this.#tells) this.#reports.remove(this.#client)
    this.#tells = false
  }

  #report(field: string, text: string | undefined): void {
    if (this.#tells) this.#reports.set(this.#client, field, text)
  }
}
