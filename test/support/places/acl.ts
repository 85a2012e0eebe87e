import { startRedis } from '../redis-server.ts'
import type { Place } from './place.ts'
import { rightsOfAllKinds } from './rights.ts'

/** Starts one server. Its users have exactly the rights that the page about rights lists for all kinds. */
export async function startAclPlace(): Promise<Place> {
  const untagged = rightsOfAllKinds()
  // For names that have their own hash tag. Holdfast adds no braces to the keys of such names, as the page says.
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
      // The log also has refusals that the client tolerated.
      const refused = await server.admin.call('ACL', 'LOG')
      await server.admin.call('ACL', 'LOG', 'RESET')
      expect(refused).toEqual([])
    },
  }
}
