/** Takes a lock with the lease that it is given, renewed or fixed, and holds it. */
import { Holdfast } from 'holdfast'
import { onMessage, tell } from '../support/child.mjs'

const [port, leaseMs, kind] = process.argv.slice(2)
const holdfast = new Holdfast({
  redis: { host: '127.0.0.1', port: Number(port) },
  leaseMs: kind === 'watched' ? Number(leaseMs) : 30_000,
})
onMessage(() => {})
const lease = await holdfast.getLock('it').lock(kind === 'watched' ? {} : Number(leaseMs))
tell({ token: lease.token })
