import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import { type Child, startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

/** The spans, as examples/tracing/service.mjs prints them. */
interface Printed {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly links: readonly { readonly to: string; readonly 'holdfast.link': string }[]
  readonly startMs: number
  readonly endMs: number
}

const server = sharedServer()

async function start(role: 'report' | 'order'): Promise<Child> {
  const child = startChild('examples/tracing/service.mjs', {
    args: [role],
    env: { REDIS_URL: server.url },
  })
  await child.next((word) => word === 'ready')
  return child
}

function spanOf(child: Child, name: string): Printed {
  const found = (child.all as (Printed | string)[]).find(
    (line): line is Printed => typeof line === 'object' && line.name === name,
  )
  if (found === undefined) throw new Error(`no span ${name}: ${child.errors}`)
  return found
}

const holders = ({ links }: Printed) =>
  links.filter((link) => link['holdfast.link'] === 'holder').map(({ to }) => to)

// The processes run the built files in dist/.
test('the span of a wait in one process is linked to the hold in another process', async () => {
  const [report, order] = await Promise.all([start('report'), start('order')])
  report.send('go')
  await report.next((word) => word === 'holds')
  expect(Object.keys(await server.admin.hgetall('stock:42'))).toHaveLength(1)
  order.send('go')
  expect(await Promise.all([report.exited, order.exited])).toMatchObject([{ code: 0 }, { code: 0 }])
  const [hold, wait] = [spanOf(report, 'holdfast.hold'), spanOf(order, 'holdfast.acquire')]
  expect(holders(wait)).toEqual([hold.spanId])
  expect(wait.traceId).toBe(spanOf(order, 'POST /orders').traceId)
  expect(hold.traceId).toBe(spanOf(report, 'GET /report').traceId)
  // A span that was exported later still has its true end.
  expect(wait.endMs).toBeLessThanOrEqual(spanOf(order, 'UPDATE stock').startMs + 1)
})

test('a holder without tracing gives no link, and the wait has its true length', async () => {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  const lease = await client.getLock('stock:42').lock()
  const order = await start('order')
  order.send('go')
  await eventually(() => order.all.some((line) => (line as Printed).name === 'SELECT customer'))
  // This is long enough for a request of the note.
  await pause(150)
  await lease.release()
  expect(await order.exited).toMatchObject({ code: 0 })
  const wait = spanOf(order, 'holdfast.acquire')
  expect(holders(wait)).toEqual([])
  expect(wait.endMs).toBeLessThanOrEqual(spanOf(order, 'UPDATE stock').startMs + 1)
})
