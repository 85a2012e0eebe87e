// Opens the ioredis connections of libraries that do not open their own.
import { once } from 'node:events'
import { Redis } from 'ioredis'

/** The options of the connections of Holdfast that change the time of a command. */
const OURS = {
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  disableClientInfo: true,
}

/** A connection with the options of Holdfast. */
export const connectAsHoldfast = (url, options = {}) => connect(url, { ...OURS, ...options })

/** A connection with the default options of ioredis. */
export async function connect(url, options = {}) {
  const client = new Redis(url, options)
  await once(client, 'ready')
  return client
}

export const connectAll = (urls) => Promise.all([urls].flat().map((url) => connect(url)))
