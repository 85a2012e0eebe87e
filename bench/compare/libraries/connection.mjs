// The ioredis connections of those that are given one.
import { once } from 'node:events'
import { Redis } from 'ioredis'

/** What Holdfast sets on its own connections, as far as it bears on the time of a command. */
const OURS = {
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  disableClientInfo: true,
}

/** A connection with the settings of Holdfast's. */
export const connectAsHoldfast = (url, options = {}) => connect(url, { ...OURS, ...options })

/** A connection with ioredis's own settings. */
export async function connect(url, options = {}) {
  const client = new Redis(url, options)
  await once(client, 'ready')
  return client
}

export const connectAll = (urls) => Promise.all([urls].flat().map((url) => connect(url)))
