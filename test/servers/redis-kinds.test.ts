import { KINDS } from '../../src/kinds/all.ts'
import { REDIS_KINDS } from '../../src/servers/redis/kinds.ts'

test('each kind that needs one server works on Redis', () => {
  const names = KINDS.map(({ requests }) => requests.name)
  expect([...REDIS_KINDS.keys()].sort()).toEqual(names.sort())
})
