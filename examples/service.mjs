// An HTTP service. Only one request at a time works on each order, even when several processes run the service.
//
//   npm run build && PORT=8080 node examples/service.mjs
//   curl -X POST http://127.0.0.1:8080/orders/1001
//
// Run a second service on another port. Send one request to each at the same time: one service answers 409.
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { escapeName, Holdfast } from 'holdfast'

const holdfast = new Holdfast({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
holdfast.on('error', (error) => console.error(error.message))
holdfast.on('lost', ({ error }) => console.error(error.message))

const server = createServer(async (request, response) => {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    const order = holdfast.getLock(`order:${escapeName(request.url)}`)
    const shipped = await order.tryUsing(ship, { waitMs: 500, signal: gone.signal })
    if (shipped === null) response.writeHead(409).end('another request works on this order\n')
    else response.end(shipped)
  } catch (error) {
    if (gone.signal.aborted) return
    // Work that waits on lease.signal rejects with an AbortError. Its cause is the error that ended the lease.
    const reason = error.name === 'AbortError' ? error.cause : error
    const passes = ['HOLDFAST_UNAVAILABLE', 'HOLDFAST_CLOSED'].includes(reason?.code)
    if (!passes) console.error(error)
    response.writeHead(passes ? 503 : 500).end('try again later\n')
  }
})

/** @param {import('holdfast').Lease} lease */
async function ship(lease) {
  await pause(1_500, undefined, { signal: lease.signal }) // The work, which stops at a loss.
  lease.assertValid()
  return `shipped, under the token ${lease.token}\n`
}

server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})

process.once('SIGTERM', async () => {
  server.close(() => console.log('closed')) // No new connections. Requests that have arrived are still answered.
  const cutOff = await holdfast.close({ drainMs: Number(process.env.DRAIN_MS ?? 20_000) })
  for (const { name, token } of cutOff) {
    console.error(`the work under "${name}" (token ${token}) was not finished`)
  }
  process.exitCode = cutOff.length === 0 ? 0 : 1
})
