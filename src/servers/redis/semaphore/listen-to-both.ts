import { isMeant } from '../../permit-pool.ts'
import type { Subscription } from '../../subscription.ts'

interface ListeningServer {
  listen(keys: { readonly channel: string }, onWake: (message?: string) => void): Subscription
}

/** The channels that wake waiters: `tickets` for Holdfast, `channel` for Redisson. */
interface PermitChannels {
  readonly channel: string
  readonly tickets: string
}

/** Listens on both channels for the messages that are meant for one client. */
export function listenToBoth(
  server: ListeningServer,
  { channel, tickets }: PermitChannels,
  clientId: string,
  onWake: (message?: string) => void,
): Subscription {
  let both: readonly Subscription[] = []
  const handle = (message?: string) => {
    if (message !== undefined) {
      if (isMeant(message, clientId)) onWake(message)
      return
    }
    // A channel was confirmed, or messages may have been missed. While only one channel is
    // confirmed, the waiter is not woken, because the confirmation of the other channel follows.
    const confirmed = both.filter((one) => one.confirmed).length
    if (confirmed !== 1) onWake()
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
