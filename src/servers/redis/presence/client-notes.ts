/** Notes that change within this time are sent together, in milliseconds. */
const TOGETHER_MS = 25

/**
 * A removed note stays readable for this time, in milliseconds. The next holder may still read the
 * note of the last holder.
 */
const KEPT_MS = 5_000

/** The most notes that a client keeps. A further note replaces the oldest note. */
const MOST = 500

/** A change to send to the server. If `note` is '', the server deletes the note of the owner. */
export interface NoteChange {
  readonly owner: string
  readonly note: string
}

interface OwnNote {
  readonly text: string
  /** True if the server may have a note of the owner, with this text or an earlier text. */
  readonly isThere: boolean
}

/** The notes of one client about its owners, and the changes that the server does not have yet. */
export class ClientNotes {
  readonly #send: () => void
  /** The notes by owner, in the order in which they were last set. */
  readonly #notes = new Map<string, OwnNote>()
  /** The changes to send: the texts, and '' for deleted notes. */
  #changes = new Map<string, string>()
  /** When each removed note is deleted, on `performance.now()`, the earliest first. */
  readonly #ending = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #firesAt = Infinity

  /** @param send called when there are changes to send */
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

  removeNote(owner: string): void {
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

  /** Returns the changes to send now, and marks them as sent. */
  takeChanges(): NoteChange[] {
    const changes = [...this.#changes].map(([owner, note]) => ({ owner, note }))
    this.#changes = new Map()
    for (const { owner, note } of changes) {
      // `Map.set` keeps the position of an existing entry, so the notes stay in the order of their
      // age.
      if (note !== '') this.#notes.set(owner, { text: note, isThere: true })
    }
    return changes
  }

  /**
   * Called when the server may not have received these changes. A change is usually sent again, but
   * not if the note has changed since.
   */
  giveBack(changes: readonly NoteChange[]): void {
    for (const { owner, note } of changes) {
      if (this.#changes.size >= MOST || this.#changes.has(owner)) continue
      if ((this.get(owner) ?? '') === note) this.#changes.set(owner, note)
    }
  }

  /** Forgets all notes, so that nothing more is sent. */
  stopSending(): void {
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
