import { NotDurableError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, granted, outcome } from '../support/fault-rig.ts'
import { isWait, replicatedRig } from './rig.ts'

const rig = replicatedRig()

test('is granted when as many replicas have it as are wanted, and not before', async () => {
  const [first] = rig.replicas
  const client = rig.client({ replicas: 2, timeoutMs: 5_000 })
  const lease = granted(await client.getLock('it').tryLock())
  expect(await rig.hash('it', first)).toEqual({ [lease.owner]: '1' })
  await lease.release()

  first.pause()
  const diary = new Diary(client)
  const waiting = outcome(client.getLock('it').tryLock())
  await eventually(async () => Object.keys(await rig.hash('it')).length === 1)
  await eventually(() => rig.proxy.count(isWait) === 2)
  expect(diary.acquired).toEqual([])
  first.resume()
  const later = granted((await waiting).value ?? null)
  expect(diary.acquired).toEqual([later.token])
  expect(await rig.hash('it', first)).toEqual({ [later.owner]: '1' })
  await later.release()
})

test('is undone and rejects where fewer have it in time', async () => {
  const [first] = rig.replicas
  const client = rig.client({ replicas: 2, timeoutMs: 200 })
  first.pause()
  const { error } = await outcome(client.getLock('it').tryLock())
  expect(error).toBeInstanceOf(NotDurableError)
  expect(error).toMatchObject({
    code: 'HOLDFAST_NOT_DURABLE',
    lockName: 'it',
    wanted: 2,
    confirmed: 1,
    connected: 2,
    timeoutMs: 200,
  })
  await eventually(async () => Object.keys(await rig.hash('it')).length === 0)
})
