import { hasThisName, NameConflict } from '../name-conflict.ts'
import type { NameRecord, RecordStore, ServerMoment, StoreMessage } from '../record-store.ts'
import { timeUs } from './moments.ts'

/**
 * Describes how one part of a record begins, expires and is deleted. `S` is the state of the part
 * as plain data.
 */
export interface RecordPart<S extends object> {
  readonly name: string
  newState(): S
  /** Forgets all that has expired. */
  expire(state: S, nowMs: number): void
  /** Returns when the store may delete the state, in ms of the server's time; 0 means now. */
  untilMs(state: S): number
  /**
   * Returns which kind uses the name, and until when; undefined if this part does not use the name.
   */
  use?(state: S): { readonly what: string; readonly untilMs: number } | undefined
}

/** The record of one name during one change. */
export class OpenRecord {
  readonly rawName: string
  readonly moment: ServerMoment
  readonly #record: NameRecord
  readonly #messages: StoreMessage[]
  readonly #conflictCode: string
  readonly #states = new Map<RecordPart<object>, object>()

  /** @param conflictCode as in `ServerWords` */
  constructor(
    rawName: string,
    record: NameRecord,
    moment: ServerMoment,
    messages: StoreMessage[],
    conflictCode: string,
  ) {
    this.rawName = rawName
    this.#record = record
    this.moment = moment
    this.#messages = messages
    this.#conflictCode = conflictCode
  }

  get nowMs(): number {
    return this.moment.nowMs
  }

  /** Removes expired data from a part, and returns the state of the part. */
  part<S extends object>(part: RecordPart<S>): S {
    const opened = this.#states.get(part) as S | undefined
    if (opened !== undefined) return opened
    const state = (this.#record.parts[part.name]?.state as S | undefined) ?? part.newState()
    part.expire(state, this.nowMs)
    this.#states.set(part, state)
    return state
  }

  /**
   * Returns the server's time in µs. If necessary, returns a larger value, because each result for
   * a name must be larger than all earlier results.
   *
   * @param reserve how many values above the result also belong to this call
   */
  uniqueUs(reserve = 0): number {
    const record = this.#record
    const us = Math.max(timeUs(this.nowMs), (record.lastUs ?? 0) + 1)
    record.lastUs = us + reserve
    return us
  }

  /** Adds a message, which the store publishes after the change. */
  publish(channel: string, message: string): void {
    this.#messages.push({ channel, message })
  }

  /** The words for the kind that uses the name. Undefined if no kind uses the name. */
  get what(): string | undefined {
    const { use } = this.#record
    return use === undefined || use.untilMs < this.nowMs ? undefined : use.what
  }

  /**
   * Throws if another kind uses the name.
   *
   * @param own the words for the kinds that may use the name
   */
  refuseOthers(...own: string[]): void {
    const { what } = this
    if (what !== undefined && !own.includes(what)) throw this.conflict(what)
  }

  /** Makes the error for a name that another kind uses. */
  conflict(what: string): NameConflict {
    const words = hasThisName(what)
    const code = this.#conflictCode
    return new NameConflict(words, code === '' ? words : `${code} ${words}`)
  }

  /** Writes the parts back to the record. */
  save(): void {
    const record = this.#record
    for (const [part, state] of this.#states) {
      const { name } = part
      const untilMs = part.untilMs(state)
      if (untilMs < this.nowMs) delete record.parts[name]
      else record.parts[name] = { untilMs, state }
      const use = part.use?.(state)
      if (use !== undefined) record.use = { part: name, what: use.what, untilMs: use.untilMs }
      else if (record.use?.part === name) record.use = undefined
    }
  }
}

/** @param callMs as in `RecordStore.transact` */
export function changeRecord<T>(
  store: RecordStore,
  rawName: string,
  callMs: number,
  change: (record: OpenRecord) => T,
): Promise<T> {
  return changeRecords(store, [rawName], callMs, (recordOf) => change(recordOf(rawName)))
}

/**
 * Changes the records of several names, all or nothing.
 *
 * @param callMs as in `RecordStore.transact`
 * @param change receives a function that returns the record of a name
 */
export function changeRecords<T>(
  store: RecordStore,
  names: readonly string[],
  callMs: number,
  change: (recordOf: (rawName: string) => OpenRecord) => T,
): Promise<T> {
  const different = [...new Set(names)]
  const { conflictCode } = store.words
  return store.transact(different, callMs, (records, moment) => {
    const messages: StoreMessage[] = []
    const opened = new Map(
      different.map((name, n) => {
        const record = records[n] as NameRecord
        return [name, new OpenRecord(name, record, moment, messages, conflictCode)]
      }),
    )
    const answer = change((rawName) => opened.get(rawName) as OpenRecord)
    for (const record of opened.values()) record.save()
    return { answer, messages }
  })
}
