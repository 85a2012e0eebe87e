// The shortest time in which a lock can pass from one caller to another: a token in a list. The first caller that
// blocks on the list pops the token. The token has no lease and no owner, so it is lost if its holder crashes.
import { connectAsHoldfast } from './connection.mjs'

export async function open(url) {
  const sender = await connectAsHoldfast(url)
  const idle = []
  const all = [sender]
  // A client blocks on its connection, so each waiting caller needs a connection.
  const another = async () => {
    const client = await connectAsHoldfast(url)
    all.push(client)
    return client
  }
  return {
    /** Puts the token into the list. One process calls this once for each name. */
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
