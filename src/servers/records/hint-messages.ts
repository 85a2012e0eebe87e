import { type Hint, MISSED } from '../hint.ts'
import type { RecordStore } from '../record-store.ts'
import type { Subscription } from '../subscription.ts'
import type { OpenRecord } from './open-record.ts'

/** Publishes a hint after the change of a record. */
export function publishHint(record: OpenRecord, channel: string, hint: Hint): void {
  record.publish(channel, JSON.stringify(hint))
}

export function listenForHints(
  store: RecordStore,
  channel: string,
  onHint: (hint: Hint) => void,
): Subscription {
  return store.listen(channel, (message) =>
    onHint(message === undefined ? MISSED : JSON.parse(message)),
  )
}

/**
 * Returns how many other clients listen to the channel, plus `more`. Undefined if the store cannot
 * count the listeners.
 *
 * @param listens true if this client listens to the channel
 * @param more how many further clients may wait without a listener
 */
export function otherListeners(
  { moment }: OpenRecord,
  channel: string,
  listens = false,
  more = 0,
): number | undefined {
  const count = moment.listeners(channel)
  return count === null ? undefined : Math.max(0, count - Number(listens) + more)
}
