import { inspect } from 'node:util'
import { createMemoryServer } from '../../src/testing.ts'

test('a lease that somebody logs says nothing of the other leases of its owner', async () => {
  await using client = createMemoryServer().newClient()
  const { first, second } = await client.run(async () => {
    const lock = client.getLock('it')
    return { first: await lock.lock(), second: await lock.lock() }
  })
  for (const lease of [first, second]) {
    expect(Object.keys(JSON.parse(JSON.stringify(lease)))).toEqual(['scoped', 'askedAt', 'told'])
    expect(inspect(lease, { depth: 10 }).length).toBeLessThan(200)
  }
})
