import type { RequestChannel } from '../request-channel.ts'
import { answersOf, type RequestedMasters } from './majority.ts'
import type { Master } from './master/master.ts'
import { requestAll } from './request-all.ts'

interface ChannelMasters extends RequestedMasters<Master> {
  /**
   * Returns the time limit of one request to one master, but not more than `longestMs`, in
   * milliseconds.
   */
  callMs(longestMs: number): number
}

/**
 * Returns the channel for messages between clients. Sends each message through all masters that are
 * up.
 */
export function requestChannel(all: ChannelMasters): RequestChannel {
  const { masters, size, failure } = all
  return {
    name: masters[0]?.server.requests.name ?? '',
    async send(clientId, message, callMs) {
      const oneMs = all.callMs(callMs)
      const send = async ({ server }: Master) => {
        if (server.whyDown !== undefined) throw server.whyDown
        return server.requests.send(clientId, message, oneMs)
      }
      const votes = await requestAll(
        masters,
        send,
        (some) => answersOf(some).length >= size.majority && 'nearly',
      )
      const counts = answersOf(votes)
      if (counts.length === 0) throw failure(votes, false)
      return counts.includes(null) ? null : Math.max(...(counts as number[]))
    },
    listen(clientId, onMessage) {
      const listening = masters.map(({ server }) => server.requests.listen(clientId, onMessage))
      return {
        get confirmed() {
          return listening.filter(({ confirmed }) => confirmed).length >= size.majority
        },
        stop: () => {
          for (const one of listening) one.stop()
        },
      }
    },
  }
}
