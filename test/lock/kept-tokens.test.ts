import { createMemoryServer } from '../../src/testing.ts'
import { atEnd } from '../support/lifetime.ts'

/** Virtual time stands still here, so each token is the last token plus 1. */
test('a call gets no token that the server has not reserved for its client', async () => {
  const server = createMemoryServer({ virtualTime: true })
  const [keeper, other] = [server.newClient({ keepMs: 1_000 }), server.newClient()]
  for (const client of [keeper, other]) atEnd(() => client.close(), { beforeCheck: true })
  const lock = keeper.getLock('it')
  const tokens: number[] = []
  for (let i = 0; i < 200; i++) {
    const lease = await lock.lock()
    tokens.push(lease.token)
    await lease.release()
    if (i % 70 === 69) {
      const theirs = await other.getLock('it').lock()
      tokens.push(theirs.token)
      await theirs.release()
    }
  }
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
})

test('a client reserves more tokens only after it has used all tokens, and few tokens after it has used few', async () => {
  const server = createMemoryServer({ virtualTime: true })
  const [keeper, other] = [server.newClient({ keepMs: 1_000 }), server.newClient()]
  for (const client of [keeper, other]) atEnd(() => client.close(), { beforeCheck: true })
  const lock = keeper.getLock('it')
  const reserves: number[] = []
  async function useOwner(times: number): Promise<void> {
    let owner = ''
    for (let i = 0; i < times; i++) {
      const lease = await lock.lock()
      const { token } = await lock.inspect()
      if (lease.owner !== owner) reserves.push((token ?? 0) - lease.token)
      owner = lease.owner
      await lease.release()
    }
  }
  await useOwner(2_400)
  await (await other.getLock('it').lock()).release()
  await useOwner(5)
  await (await other.getLock('it').lock()).release()
  await useOwner(1)
  // The client does not keep the first hold, because it does not receive messages yet.
  expect([...new Set(reserves.slice(0, -2))]).toEqual([63, 127, 255, 511, 1_023])
  expect(reserves.at(-1)).toBe(63)
})
