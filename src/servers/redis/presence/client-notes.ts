/** Notes that change within so long go together, in milliseconds. */
const TOGETHER_MS = 25

/** One that was taken away can be read for so long: who gets the lock next may ask whom it waited for. */
const KEPT_MS = 5_000

/** So many are kept: of more the oldest go. */
const MOST = 500

/** What the server is to be told of one; '' of one that is gone. */
export interface NoteChange {
  readonly owner: string
  readonly note: string
}

interface OwnNote {
  readonly text: string
  /** Whether any line of that owner may be at the server. */
  readonly isThere: boolean
}

/** The notes of one client about its owners, and which of them the server is to be told. */
export class ClientNotes {
  readonly #send: () => void
  /** By owners, the one that was set last at the end. */
  readonly #notes = new Map<string, OwnNote>()
  /** What the server has not been told: the texts, and '' for those that are gone. */
  #changes = new Map<string, string>()
  /** When those are gone that were taken away, on `performance.now()`: the first at the beginning. */
  readonly #ending = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #firesAt = Infinity

  /** @param send told when there are changes to be sent */
  constructor(send: () => void) {
    this.#send = send
  }

  get(owner: string): string | undefined {
    return this.#notes.get(owner)?.text
  }

  set(owner: string, text: string): void {
    this.#ending.delete(owner)
    const isThere = this.#notes.get(owner)?.isThere ?? false
    this.#notes.delete(owner)
    this.#notes.set(owner, { text, isThere })
    this.#changes.set(owner, text)
    if (this.#notes.size > MOST) this.#drop(this.#notes.keys().next().value as string)
    this.#wakeIn(TOGETHER_MS)
  }

  takeAway(owner: string): void {
    const note = this.#notes.get(owner)
    if (note === undefined) return
    if (note.isThere) {
      this.#ending.delete(owner)
      this.#ending.set(owner, performance.now() + KEPT_MS)
      this.#wakeIn(KEPT_MS)
    } else {
      this.#drop(owner)
    }
  }

  /** What the server is to be told now, as the arguments of the script. */
  take(): NoteChange[] {
    const changes = [...this.#changes].map(([owner, note]) => ({ owner, note }))
    this.#changes = new Map()
    for (const { owner, note } of changes) {
      // In its place: it is no younger for that.
      if (note !== '') this.#notes.set(owner, { text: note, isThere: true })
    }
    return changes
  }

  /** The server may not have been told: what is so still goes with the next. */
  giveBack(changes: readonly NoteChange[]): void {
    for (const { owner, note } of changes) {
      if (this.#changes.size >= MOST || this.#changes.has(owner)) continue
      if ((this.get(owner) ?? '') === note) this.#changes.set(owner, note)
    }
  }

  /** Nothing is sent any more. */
  close(): void {
    clearTimeout(this.#timer)
    this.#notes.clear()
    this.#changes.clear()
    this.#ending.clear()
  }

  #drop(owner: string): void {
    const isThere = this.#notes.get(owner)?.isThere
    this.#notes.delete(owner)
    this.#ending.delete(owner)
    if (isThere) this.#changes.set(owner, '')
    else this.#changes.delete(owner)
  }

  #wakeIn(ms: number): void {
    const at = performance.now() + ms
    if (at >= this.#firesAt) return
    clearTimeout(this.#timer)
    this.#firesAt = at
    this.#timer = setTimeout(() => this.#wake(), ms).unref()
  }

  #wake(): void {
    this.#firesAt = Infinity
    const now = performance.now()
    for (const [owner, endsAt] of this.#ending) {
      if (endsAt > now) {
        this.#wakeIn(endsAt - now)
        break
      }
      this.#drop(owner)
    }
    if (this.#changes.size > 0) this.#send()
  }
}
