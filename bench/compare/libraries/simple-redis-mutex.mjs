import { load } from './peer.mjs'

export async function open(url, { leaseMs = 30_000 } = {}) {
  const { createClient } = await load('redis')
  const { lock } = await load('simple-redis-mutex')
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return {
    acquire: (name) => lock(client, name, { timeout: leaseMs }),
    close: () => client.destroy(),
  }
}
