import { readWireFormat, WIRE_FORMAT, wireConflict } from '../../src/servers/wire-version.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig } from '../support/fault-rig.ts'
import { catchWarnings } from '../support/warnings.ts'

const rig = faultRig()
const CLIENT = 'a'.repeat(21)
const ABOUT = { label: 'newer', host: 'h', pid: 1, version: '9.0.0', startedAt: 1 }

test('two versions of the wire format conflict if the newer one says so', () => {
  expect(wireConflict('x', WIRE_FORMAT)).toBeUndefined()
  expect(wireConflict('x', { version: 2, oldest: 1 })).toBeUndefined()
  expect(wireConflict('x', { version: 3, oldest: 2 })).toMatch(
    /The client "x" has version 3 .* this client has version 1\..* Update this client/,
  )
  expect(wireConflict('x', { version: 1, oldest: 1 }, { version: 3, oldest: 2 })).toMatch(
    /has version 1 .* Update that client/,
  )
})

test('an invalid report is ignored', () => {
  const reports = ['', '{', 'null', '{}', '{"wire":1}', '{"wire":{"version":0,"oldest":1}}']
  for (const about of [null, ...reports, '{"wire":{"version":"2","oldest":1}}']) {
    expect(readWireFormat(about)).toBeNull()
  }
  expect(readWireFormat('{"wire":{"version":2,"oldest":1,"more":0}}')).toEqual({
    version: 2,
    oldest: 1,
  })
})

describe('on a server', () => {
  const warnings = catchWarnings()

  test('a client reports its version', async () => {
    const client = rig.client()
    await client.getLock('it').using(() => {})
    const key = `holdfast_client:{${client.id}}`
    const about = await eventually(() => rig.server.admin.hget(key, 'about'))
    expect(readWireFormat(about)).toEqual(WIRE_FORMAT)
  })

  test.each([
    ['warns once of a holder whose keys it could misread', { version: 3, oldest: 2 }, 1],
    ['does not warn of a newer client with which it can share locks', { version: 3, oldest: 1 }, 0],
  ])('a client that waits %s', async (_, wire, times) => {
    const { admin } = rig.server
    const key = `holdfast_client:{${CLIENT}}`
    await admin.hset(key, 'about', JSON.stringify({ ...ABOUT, wire }))
    await admin.pexpire(key, 5_000)
    await admin.hset('it', `${CLIENT}:1`, 1)
    await admin.pexpire('it', 300)
    const client = rig.client()
    await client.getLock('it').using(() => {})
    expect(await client.clientInfo(CLIENT)).toMatchObject({ label: 'newer' })
    await admin.del(key)
    const found = warnings.filter(({ code }) => code === 'HOLDFAST_WIRE_VERSION')
    expect(found).toHaveLength(times)
    for (const { message } of found) expect(message).toMatch(/The client "newer" has version 3/)
  })
})
