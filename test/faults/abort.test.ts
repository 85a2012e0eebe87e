import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'

const rig = faultRig()

interface Scene {
  client: Holdfast
  witness: Holdfast
  /** Always has the same owner, so that it re-enters. */
  lock: HoldfastLock
  other: HoldfastLock
  held: Lease[]
  aborting: AbortController
}

interface Operation {
  operation: string
  script: 'acquire' | 'handOver'
  prepare?: (scene: Scene) => Promise<void>
  /** Starts the call that is aborted. */
  begin: (scene: Scene) => Promise<Lease>
  /** Makes the client send the request, if the call itself sends none. */
  cause?: (scene: Scene) => Promise<unknown>
  /** The number of leases that the client holds after the abort. */
  left: 0 | 1
}

const lock = ({ lock, aborting }: Scene) => lock.lock({ signal: aborting.signal })

const operations: Operation[] = [
  { operation: 'acquire', script: 'acquire', begin: lock, left: 0 },
  {
    operation: 're-entry',
    script: 'acquire',
    prepare: async ({ lock, held }) => {
      held.push(await lock.lock())
    },
    begin: lock,
    left: 1,
  },
  {
    operation: 'hand-off',
    script: 'handOver',
    prepare: async ({ other, held }) => {
      held.push(await other.lock())
    },
    begin: lock,
    cause: async ({ held }) => expect(await held.pop()?.release()).toBe(true),
    left: 0,
  },
]

function sceneOf(): Scene & { name: string; diary: Diary } {
  const name = expect.getState().currentTestName as string
  const client = rig.client()
  return {
    name,
    client,
    diary: new Diary(client),
    witness: rig.witness(),
    lock: client.getLock(name, { owner: client.owner() }),
    other: client.getLock(name, { owner: client.owner() }),
    held: [],
    aborting: new AbortController(),
  }
}

/** Checks that Redis has only the holds of the client, and that another client can then acquire the lock. */
async function checkNothingIsLeft({ name, witness, held }: ReturnType<typeof sceneOf>) {
  const expected = held[0] ? { [held[0].owner]: String(held.length) } : {}
  await eventually(async () => {
    expect(await rig.hash(name)).toEqual(expected)
    return true
  })
  for (const lease of held.splice(0)) expect(await lease.release()).toBe(true)
  const lease = await within(2_000, witness.getLock(name).lock())
  await lease.release()
}

describe.each(operations)('an aborted $operation', ({ script, prepare, begin, cause, left }) => {
  test.each([
    { moment: 'before its request reaches the server', action: 'hold' },
    { moment: 'after the server has run its request', action: 'holdReply' },
    { moment: 'while its reply is lost with the connection', action: 'cutAfter' },
    { moment: 'while its request is lost with the connection', action: 'cutBefore' },
    { moment: 'while it gets no reply', action: 'mute' },
  ] as const)('rejects at once and leaves nothing behind: $moment', async ({ action }) => {
    const scene = sceneOf()
    await prepare?.(scene)
    const trap = rig.proxy.onNextRequest(SHA[script], action)
    const reason = new Error('enough')
    let isSettled = false
    const pending = outcome(begin(scene)).finally(() => {
      isSettled = true
    })
    const rest = cause?.(scene)
    await trap.seen
    // The server has run the request, because it has answered a later request.
    if (action === 'holdReply') await rig.server.admin.ping()
    scene.aborting.abort(reason)
    // In the same turn of the event loop, so that no answer and no timer comes first.
    await new Promise(process.nextTick)
    expect(isSettled).toBe(true)
    expect((await pending).error).toBe(reason)
    trap.release()
    await rest
    expect(scene.held).toHaveLength(left)
    await checkNothingIsLeft(scene)
    expect(scene.diary.lost).toEqual([])
  })

  test('sends nothing when it was aborted before the call', async () => {
    const scene = sceneOf()
    await prepare?.(scene)
    const requests = rig.proxy.count(SHA[script])
    scene.aborting.abort()
    expect((await outcome(begin(scene))).error).toBe(scene.aborting.signal.reason)
    expect(rig.proxy.count(SHA[script])).toBe(requests)
    await cause?.(scene)
    await checkNothingIsLeft(scene)
  })

  test('keeps a lease that was granted before the abort', async () => {
    const scene = sceneOf()
    await prepare?.(scene)
    const pending = begin(scene)
    await cause?.(scene)
    scene.held.push(await pending)
    scene.aborting.abort()
    expect(scene.held.at(-1)?.valid).toBe(true)
    await checkNothingIsLeft(scene)
    expect(scene.diary.lost).toEqual([])
  })
})

test('an abort at any moment leaves a lease or the reason of the abort, and no other lock', async () => {
  const name = 'any moment'
  const client = rig.client()
  const witness = rig.witness().getLock(name)
  const lock = client.getLock(name)
  rig.proxy.delay(2)
  let got = 0
  // On a busy machine, the first success takes longer.
  for (let tenths = 0; tenths < 120 || got === 0; tenths += 2) {
    const aborting = new AbortController()
    const timer = setTimeout(() => aborting.abort(), tenths / 10)
    const { value, error } = await outcome(lock.lock({ signal: aborting.signal }))
    clearTimeout(timer)
    if (value) {
      got += 1
      expect(await rig.hash(name)).toEqual({ [value.owner]: '1' })
      await value.release()
    } else expect(error).toBe(aborting.signal.reason)
    const next = granted(await witness.tryLock(2_000))
    await next.release()
  }
  expect(got).toBeLessThan(60)
})
