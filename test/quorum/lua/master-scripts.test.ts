import { acquire, handOver, taking, tokenOf } from '../../lock/lua/lock-requests.ts'
import {
  type Arguments,
  admin,
  BIRTH,
  COUNTER,
  COUNTER_MS,
  fields,
  LOCK,
  NEVER,
  nowUs,
  run,
  server,
  state,
  type Value,
  withoutTtl,
} from '../../lua/run-script.ts'
import * as scripts from '../../support/scripts.ts'

afterEach(async () => {
  expect(await withoutTtl()).toEqual([])
  await server.flush()
})
describe('one of several masters', () => {
  // The mark is the only key without a TTL.
  afterEach(() => admin.del(BIRTH))

  const REST_MS = 60_000
  const enrol = (args: Arguments = {}) =>
    run(scripts.enrol, { runId: 'a', restMs: REST_MS, durable: 0, ...args })
  const vote = (args: Arguments = {}) =>
    run(scripts.vote, { ...taking, birth: BIRTH, longestMs: REST_MS, ...args }) as Promise<
      [string, Value]
    >
  /** The replication id of the server. It changes with each start of a master. */
  const replId = async () =>
    /master_replid:(\w+)/.exec(await admin.info('replication'))?.[1] as string
  /** Writes a mark of this start of the server, or of another server if `id` is given. */
  const mark = async ({ since = 1, durable = 0, id = '', longestMs = REST_MS } = {}) => {
    const by = id === '' ? await replId() : id
    await admin.set(BIRTH, `${since} a ${durable} ${by} ${longestMs}`)
  }
  const agree = (token: number, owner = 'c:1') =>
    run(scripts.agree, { owner, token, counterMs: COUNTER_MS })
  const restore = (args: Arguments = {}) =>
    run(scripts.restore, {
      owner: 'c:1',
      holds: 2,
      leaseMs: 10_000,
      token: 17,
      notAfterUs: NEVER,
      counterMs: COUNTER_MS,
      ...args,
    })
  const inMs = async (sinceUs: unknown) => (Number(sinceUs) - (await nowUs())) / 1_000

  test('vote is refused before the master is enrolled, and until the moment that enrol answers', async () => {
    expect(await vote()).toEqual(['forgot', ''])
    const sinceUs = await enrol()
    expect(await inMs(sinceUs)).toBeGreaterThan(REST_MS - 5_000)
    expect(await vote()).toEqual(['forgot', sinceUs])
    // The replication id of another server, and a part of this server's own id.
    for (const id of ['b', (await replId()).slice(0, -1)]) {
      await mark({ id })
      expect(await vote()).toEqual(['forgot', ''])
    }
    expect(await fields()).toEqual({})
    await mark()
    expect(await vote()).toEqual(['granted', expect.any(String)])
    await mark({ id: 'b' })
    expect(await vote({ owner: 'c:2' })).toEqual(['held', expect.any(Number), 'c:1', ''])
  })

  test('vote refuses a client whose leases are longer than the master knows, until enrol reports them', async () => {
    await mark()
    expect(await vote({ longestMs: REST_MS + 1 })).toEqual(['forgot', ''])
    expect(await enrol({ restMs: REST_MS + 1 })).toBe('1')
    expect(await vote({ longestMs: REST_MS + 1 })).toEqual(['granted', expect.any(String)])
    // A client with shorter leases does not lower the longest lease.
    const then = await admin.get(BIRTH)
    expect(await enrol({ restMs: 1 })).toBe('1')
    expect(await admin.get(BIRTH)).toBe(then)
    // The master rests for the longest lease that any client has reported.
    await mark({ id: 'b', longestMs: 3 * REST_MS })
    expect(await inMs(await enrol())).toBeGreaterThan(3 * REST_MS - 5_000)
  })

  test('a mark of an older Holdfast version counts only for the process that it names', async () => {
    await admin.set(BIRTH, '17 a 1')
    expect(await vote()).toEqual(['forgot', ''])
    expect(await enrol()).toBe('17')
    expect(await admin.get(BIRTH)).toBe(`17 a 0 ${await replId()} ${REST_MS}`)
    expect(await vote()).toEqual(['granted', expect.any(String)])
    for (const old of ['17 b 1', '17  1']) {
      await admin.set(BIRTH, old)
      const rests = await inMs(await enrol({ runId: old === '17 b 1' ? 'a' : '', durable: 1 }))
      expect(rests).toBeGreaterThan(REST_MS - 5_000)
    }
  })

  test('vote issues the next number of the counter, and uses the clock only if the counter is missing', async () => {
    await mark()
    await admin.set(COUNTER, '17', 'PX', 60_000)
    expect(await vote()).toEqual(['granted', '18'])
    await admin.del(COUNTER, LOCK)
    expect(Number((await vote())[1])).toBeGreaterThan(Date.now() * 1_000 - 60_000_000)
  })

  test('vote ignores a counter that is older than the mark, and starts at the time of the mark', async () => {
    const sinceUs = (await nowUs()) - 1_000_000
    await mark({ since: sinceUs })
    await admin.set(COUNTER, '17', 'PX', 60_000)
    expect(await vote()).toEqual(['granted', String(sinceUs)])
    await admin.del(LOCK)
    expect(await vote({ owner: 'c:2' })).toEqual(['granted', String(sinceUs + 1)])
  })

  test('the first enrolment counts until the server is another process', async () => {
    const first = await enrol()
    expect(await inMs(first)).toBeGreaterThan(REST_MS - 5_000)
    expect(await enrol()).toBe(first)
    expect(await enrol({ runId: 'b', durable: 1 })).toBe(first)
    await mark({ id: 'b' })
    expect(await inMs(await enrol())).toBeGreaterThan(REST_MS - 5_000)
  })

  const claim = async (args: Arguments = {}) => {
    const usual = { runId: 'a', restMs: REST_MS, durable: 0, draft: 'draft', deployment: '' }
    const answer = (await run(scripts.claim, { ...usual, ...args })) as Value[]
    const [kind, sinceUs, ...more] = answer
    return (answer.length === 1 ? answer : [kind, Number(sinceUs), ...more]) as [
      string,
      number,
      string,
      number,
    ]
  }
  const found = ([, sinceUs, deployment, restMs]: [string, number, string, number], more = {}) =>
    run(scripts.found, { sinceUs, deployment, founder: 'f', restMs, ...more })

  test('claim gets the same answer until the deployment is founded, and until then the master does not vote', async () => {
    const claimed = await claim()
    const [, sinceUs, deployment, restMs] = claimed
    expect(claimed).toEqual(['claimed', expect.any(Number), expect.any(String), REST_MS])
    expect(deployment).toMatch(/^draft\.\d+$/)
    expect(await inMs(sinceUs)).toBeGreaterThan(REST_MS - 5_000)
    expect(await vote()).toEqual(['forgot', String(sinceUs)])
    expect(await claim({ draft: 'b', restMs: 1 })).toEqual(claimed)
    expect(await claim({ deployment })).toEqual(claimed)
    expect(await claim({ deployment: 'other.1' })).toEqual(['known'])
    expect(await enrol()).toBe(String(sinceUs))
    expect(await claim()).toEqual(claimed)
    expect(await found(claimed, { restMs })).toBe(1)
    expect(await claim()).toEqual(['known'])
    expect(await vote()).toEqual(['granted', expect.any(String)])
  })

  test('claim is refused by a master that already has a mark, of its own or of another process', async () => {
    for (const id of ['', 'b']) {
      await mark({ id })
      expect(await claim()).toEqual(['known'])
    }
    for (const odd of ['17 a 1', 'v2 anything', 'nonsense']) {
      await admin.set(BIRTH, odd)
      expect(await claim()).toEqual(['known'])
      expect(await admin.get(BIRTH)).toBe(odd)
    }
    // A claim whose rest is over lets the master vote. A claim of another server does not count as a claim.
    const one = await replId()
    await admin.set(BIRTH, `17 a/draft.1 0 ${one} ${REST_MS}`)
    expect(await claim()).toEqual(['known'])
    await admin.set(BIRTH, `${(await nowUs()) + 9_000_000} a/draft.1 0 b ${REST_MS}`)
    expect(await claim()).toEqual(['known'])
  })

  test('claim of an emptied master gets another id', async () => {
    const [, , first] = await claim()
    await admin.del(BIRTH)
    expect((await claim())[2]).not.toBe(first)
  })

  test('found lets one client found a deployment, and gives a repeat the same answer', async () => {
    const claimed = await claim()
    expect(await found(claimed)).toBe(1)
    const then = await admin.get(BIRTH)
    expect(await found(claimed)).toBe(1)
    expect(await found(claimed, { founder: 'g' })).toBe(0)
    expect(await admin.get(BIRTH)).toBe(then)
    expect(await enrol({ restMs: REST_MS + 1 })).toBe(then?.split(' ')[0])
    expect((await admin.get(BIRTH))?.split(' ')[1]).toBe(then?.split(' ')[1])
  })

  test('found does nothing if the claim is gone or is another claim', async () => {
    const claimed = await claim()
    await admin.del(BIRTH)
    expect(await found(claimed)).toBe(0)
    expect(await admin.exists(BIRTH)).toBe(0)
    // A second claim for the same deployment, after the master was emptied.
    const [, sinceUs, deployment] = claimed
    const again = await claim({ deployment })
    expect(again[2]).toBe(deployment)
    expect(await found(claimed)).toBe(0)
    expect(await found(again, { sinceUs: sinceUs + 1 })).toBe(0)
    expect(await found(again, { deployment: 'other.1' })).toBe(0)
    await enrol()
    await mark()
    expect(await found(again)).toBe(0)
    await admin.set(BIRTH, `${again[1]} a/${deployment} 0 b ${REST_MS}`)
    expect(await found(again)).toBe(0)
  })

  test('found comes too late when half of the rest is over', async () => {
    const now = await nowUs()
    const one = await replId()
    const claimedFor = async (leftMs: number) => {
      const sinceUs = now + leftMs * 1_000
      await admin.set(BIRTH, `${sinceUs} a/draft.1 0 ${one} ${REST_MS}`)
      return found(['claimed', sinceUs, 'draft.1', REST_MS])
    }
    expect(await claimedFor(REST_MS / 2 - 1)).toBe(0)
    expect(await claimedFor(REST_MS / 2 + 10_000)).toBe(1)
  })

  test('enrol refuses to change the mark of a newer version', async () => {
    await admin.set(BIRTH, 'v2 anything')
    expect(await vote()).toEqual(['forgot', ''])
    await expect(enrol()).rejects.toThrow(/NEWER the mark holdfast_birth/)
    expect(await admin.get(BIRTH)).toBe('v2 anything')
    await admin.set(BIRTH, 'nonsense')
    expect(await inMs(await enrol())).toBeGreaterThan(REST_MS - 5_000)
  })

  test('enrol lets a master that stores every write vote at once, but not before its recorded start', async () => {
    await mark({ since: 17, durable: 1, id: 'b' })
    expect(await enrol({ durable: 1 })).toBe('17')
    expect(await admin.get(BIRTH)).toBe(`17 a 1 ${await replId()} ${REST_MS}`)
    const soon = (await nowUs()) + 30_000_000
    await mark({ since: soon, durable: 1, id: 'b' })
    expect(await enrol({ durable: 1 })).toBe(String(soon))
    await admin.del(BIRTH)
    expect(await inMs(await enrol({ durable: 1 }))).toBeGreaterThan(REST_MS - 5_000)
  })

  test('enrol trusts no mark unless the master stored every write before and does so now', async () => {
    for (const [was, is] of [
      [0, 1],
      [1, 0],
    ] as const) {
      await mark({ durable: was, id: 'b' })
      expect(await inMs(await enrol({ durable: is }))).toBeGreaterThan(REST_MS - 5_000)
    }
  })

  test('agree raises the counter only for the holder, and never lowers it', async () => {
    expect(await agree(17)).toBe(0)
    const token = await tokenOf()
    expect(await agree(token + 5, 'c:2')).toBe(0)
    expect(await agree(token + 5)).toBe(1)
    expect(await agree(token + 3)).toBe(1)
    expect(await admin.get(COUNTER)).toBe(String(token + 5))
    expect(await admin.pttl(COUNTER)).toBeGreaterThan(0)
  })

  test('restore gives a free lock back to its owner, and refuses another owner', async () => {
    expect(await restore()).toEqual(['held'])
    expect(await fields()).toEqual({ 'c:1': '2' })
    expect(await admin.get(COUNTER)).toBe('17')
    expect(await admin.pttl(LOCK)).toBeLessThanOrEqual(10_000)
    const then = await state()
    expect(await restore({ holds: 3, token: 16 })).toEqual(['held'])
    expect(await restore({ owner: 'c:2' })).toEqual(['gone'])
    expect(await state()).toEqual(then)
  })

  test('restore that comes too late does nothing', async () => {
    expect(await restore({ notAfterUs: 1 })).toEqual(['late', expect.any(String)])
    expect(await state()).toEqual([])
  })

  test('a hand-over issues the number after its token or the counter, whichever is greater', async () => {
    await acquire({})
    await admin.set(COUNTER, '20', 'PX', 60_000)
    expect(await handOver({ token: 17, vote: 1 })).toEqual(['granted', '21'])
    await admin.set(COUNTER, '5', 'PX', 60_000)
    expect(await handOver({ from: 'c:2', to: 'c:3', token: 21, vote: 1 })).toEqual([
      'granted',
      '22',
    ])
  })
})
