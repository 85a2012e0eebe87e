import { startRedis } from '../redis-server.ts'
import type { Place } from './place.ts'
import { rightsOfAllKinds } from './rights.ts'

/** One server whose users have the rights that the page about rights lists for all kinds, and no more. */
export async function startAclPlace(): Promise<Place> {
  const untagged = rightsOfAllKinds()
  // Of names that have a tag of their own, as the page says.
  const tagged = untagged
    .filter((one) => one.includes('{app:'))
    .map((one) => one.replace('{app:', 'app:'))
  const rights = [...untagged, ...tagged]
  const login = { username: 'locks', password: 'secret' }
  const server = await startRedis({
    config: { user: [login.username, 'on', `>${login.password}`, ...rights] },
  })
  return {
    server,
    keyPrefix: 'app:',
    way: () => ({ redis: { host: server.host, port: server.port, ...login, keyPrefix: 'app:' } }),
    async check() {
      // Every refusal is there, also one that the client made the best of.
      const refused = await server.admin.call('ACL', 'LOG')
      await server.admin.call('ACL', 'LOG', 'RESET')
      expect(refused).toEqual([])
    },
  }
}
