import { type Hint, MISSED, RELEASED } from '../../hint.ts'
import type { Subscription } from '../../subscription.ts'

interface ListeningServer {
  listen(keys: { readonly channel: string }, onWake: (message?: string) => void): Subscription
}

/** The channels that wake waiters: `tickets` of Holdfast, and `channel` of Redisson. */
interface PermitChannels {
  readonly channel: string
  readonly tickets: string
}

/**
 * Matches a message of Redisson, which is a number. A number that begins with 0 is a message from
 * Holdfast to Redisson.
 */
const OF_REDISSON = /^-?[1-9]\d*$/

/** Listens on both channels. Leaves out the messages of Holdfast to other clients. */
export function listenToBoth(
  server: ListeningServer,
  { channel, tickets }: PermitChannels,
  clientId: string,
  onHint: (hint: Hint) => void,
): Subscription {
  let both: readonly Subscription[] = []
  const ownTurn: Hint = { kind: 'turn', of: clientId }
  const handle = (message?: string) => {
    if (message !== undefined) {
      if (message === clientId) onHint(ownTurn)
      else if (OF_REDISSON.test(message)) onHint(RELEASED)
      return
    }
    // A call without a message has two causes: a channel was confirmed, or messages may have been
    // lost. While only one channel is confirmed, such a call does not wake the waiter.
    const confirmed = both.filter((one) => one.confirmed).length
    if (confirmed !== 1) onHint(MISSED)
  }
  both = [tickets, channel].map((name) => server.listen({ channel: name }, handle))
  return {
    get confirmed() {
      return both.every((one) => one.confirmed)
    },
    stop: () => {
      for (const one of both) one.stop()
    },
  }
}
