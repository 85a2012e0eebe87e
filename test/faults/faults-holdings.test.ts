import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig } from '../support/fault-rig.ts'

const rig = faultRig()

test('`held()` lists the locks that `close()` is still releasing, and nothing afterwards', async () => {
  const client = rig.client({ commandTimeoutMs: 300 })
  const { name, owner, token } = await client.getLock('it').lock()
  rig.proxy.blackHole({ onHeal: 'drop' })
  const closing = client.close()
  expect(client.held().held).toMatchObject([{ name, owner, token, holdCount: 1, remainingMs: 0 }])
  const [cutOff] = await closing
  expect(cutOff).toMatchObject({ name, owner, token, kind: 'lock' })
  expect(cutOff?.remainingMs).toBeGreaterThan(0)
  expect(client.held()).toEqual({ held: [], waiting: [] })
  await rig.server.admin.del('it')
})

test('`held()` lists the permits of `using()` until Redis has released them', async () => {
  const client = rig.client()
  const semaphore = client.getSemaphore('slots')
  await semaphore.trySetPermits(2)
  const asked = () => rig.proxy.count('slots')
  const working = deferred<number>()
  let hole: { heal(): void } | undefined
  const using = semaphore.using(() => {
    hole = rig.proxy.blackHole({ direction: 'toServer' })
    working.resolve(asked())
  })
  const before = await working.promise
  await eventually(() => asked() > before)
  expect(client.held().held).toMatchObject([{ name: 'slots', kind: 'semaphore', permits: 1 }])
  hole?.heal()
  await using
  expect(client.held().held).toEqual([])
  await rig.server.admin.del('slots')
})
