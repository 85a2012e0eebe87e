import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { validityMs } from '../../src/lease/validity.ts'
import * as fair from '../../src/servers/fair-server.ts'
import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { queueKeys } from '../../src/servers/redis/key-names/fair.ts'
import { readWriteKeys } from '../../src/servers/redis/key-names/read-write.ts'
import { WAITING_MS } from '../../src/servers/waiting-time.ts'
import * as keys from '../support/promised-keys.ts'
import * as times from '../support/promised-times.ts'

/** test/repo/docs/reference compares the source with the pages, except the pages that are read here. */
const root = resolve(__dirname, '../..')

test('the times that tests state are the times of the source', () => {
  const { CLAIM_MS, ALIVE_MS } = fair
  expect(times).toMatchObject({ CLAIM_MS, ALIVE_MS, WAITING_MS })
  for (const leaseMs of [1, 40, 600, 1_000, 1_999, 2_000, 2_001, 10_000, 30_000, 86_400_000]) {
    expect(times.validityMs(leaseMs)).toBeCloseTo(validityMs(leaseMs), 6)
  }
})

test('the page about leases states how long a lease is valid', () => {
  const page = readFileSync(join(root, 'docs/explanation/leases.md'), 'utf8')
  const [, leaseMs = '', validMs = ''] =
    /A fixed lease of ([\d ]+) ms[\s\S]*?valid, ([\d ]+) ms/.exec(page) ?? []
  const [lease, valid] = [leaseMs, validMs].map((text) => Number(text.replaceAll(' ', '')))
  expect(lease).toBeGreaterThan(0)
  expect(validityMs(lease ?? 0)).toBe(valid)
})

test.each(['it', 'app:it', '{ada}:it', 'a:{ada}'])(
  'the keys that tests state are the keys of the source, for the name %s',
  (raw) => {
    const { counter, channel } = lockKeys(raw)
    const { queue } = queueKeys(raw)
    expect([keys.counterOf(raw), keys.channelOf(raw)]).toEqual([counter, channel])
    expect(keys.queueOf(raw)).toBe(queue)
    expect(keys.readWriteChannelOf(raw)).toBe(readWriteKeys(raw).channel)
  },
)
