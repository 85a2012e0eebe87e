// The fastest that a lock can pass from one to another: a token in a list, popped by whoever blocks
// on it first. It has no lease and no owner: who crashes takes the token along.
import { connectAsHoldfast } from './connection.mjs'

export async function open(url) {
  const sender = await connectAsHoldfast(url)
  const idle = []
  const all = [sender]
  // It blocks for as long as need be.
  const another = async () => {
    const client = await connectAsHoldfast(url)
    all.push(client)
    return client
  }
  return {
    /** Puts the token there: once for each name, by one process. */
    prepare: (name) => sender.lpush(name, 'token'),
    async acquire(name) {
      const client = idle.pop() ?? (await another())
      await client.blpop(name, 0)
      idle.push(client)
      return () => sender.lpush(name, 'token')
    },
    close() {
      for (const client of all) client.disconnect()
    },
  }
}
