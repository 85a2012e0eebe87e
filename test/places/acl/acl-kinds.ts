import { leaves } from '../../support/leaks.ts'
import { AT_ONCE, allow, drive, LEFT, listsOf, refusals, serversFor } from './acl-rig.ts'
import { SPECIAL, type Use } from './drives.ts'

/** Checks that the list of rights of each kind is sufficient, and that no right in it is superfluous. */
export function describeKinds(kinds: readonly string[]): void {
  describe.each(kinds)('%s', (kind) => {
    const [withPrefix, without] = listsOf(kind)
    const tagged = withPrefix
      .filter((word) => word.includes('{app:'))
      .map((word) => word.replace('{app:', 'app:'))

    test('the list of rights is enough, with a key prefix, without one, and for names with a tag', async () => {
      leaves(LEFT)
      const servers = await serversFor(kind)
      const logins = [
        { user: 'prefix', keyPrefix: 'app:', before: '', words: withPrefix },
        { user: 'none', keyPrefix: '', before: '', words: without },
        { user: 'tag', keyPrefix: 'tag:', before: '{t}:', words: [...withPrefix, ...tagged] },
      ]
      for (const { words, ...login } of logins) {
        await allow(login, servers, words)
        await drive(kind, servers, login)
      }
      expect(await refusals(servers)).toEqual([])
    })

    test('the list of rights is the smallest: without any one word Redis refuses something', async () => {
      leaves(LEFT)
      const servers = await serversFor(kind)
      const logins = withPrefix.map((word, i) => ({ word, user: `u${i}`, keyPrefix: `p${i}:` }))
      for (const login of logins) {
        await allow(
          login,
          servers,
          withPrefix.filter((word) => word !== login.word),
        )
      }
      // After this first use, the masters vote.
      const first = { user: 'default', keyPrefix: 'first:' }
      await allow(first, servers, ['~*', '&*', '+@all'])
      if (kind === 'masters') await drive(kind, servers, first)
      const isSpecial = ({ word }: { word: string }) => word in SPECIAL
      const why = new Map<string, unknown>()
      const normal = logins.filter((login) => !isSpecial(login))
      const one = async () => {
        for (let login = normal.pop(); login !== undefined; login = normal.pop()) {
          const { word } = login
          await drive(kind, servers, login, undefined, 6_000).catch((error) => why.set(word, error))
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, one))
      for (const login of logins.filter(isSpecial)) {
        const special = SPECIAL[login.word] as (use: Use, kind: string) => Promise<void>
        await drive(kind, servers, login, (use) => special(use, kind)).catch((error) =>
          why.set(login.word, error),
        )
      }
      const refused = new Set((await refusals(servers)).map(({ username }) => username))
      const unused = logins.filter(({ user }) => !refused.has(user)).map(({ word }) => word)
      expect(unused.map((word) => `${word}: ${why.get(word)}`)).toEqual([])
    })
  })
}
