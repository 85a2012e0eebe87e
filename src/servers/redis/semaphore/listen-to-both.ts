import { isMeant } from '../../permit-pool.ts'
import type { Subscription } from '../../subscription.ts'

interface Server {
  listen(keys: { readonly channel: string }, onWake: (message?: string) => void): Subscription
}

/** Where those who wait for permits are told: each client on `tickets`, those of Redisson on `channel`. */
interface Channels {
  readonly channel: string
  readonly tickets: string
}

/** Listens for what is meant for one client, which may be told by either channel. */
export function listenToBoth(
  server: Server,
  { channel, tickets }: Channels,
  clientId: string,
  onWake: (message?: string) => void,
): Subscription {
  let both: readonly Subscription[] = []
  const heard = (message?: string) => {
    if (message !== undefined) {
      if (isMeant(message, clientId)) onWake(message)
      return
    }
    // Once for the two of them: when both are confirmed, or neither is any more.
    const confirmed = both.filter((one) => one.confirmed).length
    if (confirmed !== 1) onWake()
  }
  both = [tickets, channel].map((name) => server.listen({ channel: name }, heard))
  return {
    get confirmed() {
      return both.every((one) => one.confirmed)
    },
    stop: () => {
      for (const one of both) one.stop()
    },
  }
}
