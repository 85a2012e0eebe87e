/** A Node process that takes a lock, or one side of a read-write lock, however long that lasts, and holds it. */
import { Holdfast } from 'holdfast'
import { onMessage, tell } from '../../support/child.mjs'

const [port, name, leaseMs, side] = process.argv.slice(2)
const redis = { host: '127.0.0.1', port: Number(port) }
const holdfast = new Holdfast({ redis, leaseMs: Number(leaseMs) })
onMessage(() => {})
const lock = side === undefined ? holdfast.getLock(name) : holdfast.getReadWriteLock(name)[side]()
await lock.lock()
tell('acquired')
