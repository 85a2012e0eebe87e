/**
 * A Node process that waits for a lock, a fair lock, one side of a read-write lock or a permit without a limit, and
 * holds it.
 */
import { Holdfast } from 'holdfast'
import { onMessage, tell } from '../../support/child.mjs'

const [port, name, leaseMs, side] = process.argv.slice(2)
const redis = { host: '127.0.0.1', port: Number(port) }
const holdfast = new Holdfast({ redis, leaseMs: Number(leaseMs) })
onMessage(() => {})
if (side === 'permit') await holdfast.getPermitExpirableSemaphore(name).acquire()
else if (side === 'fair') await holdfast.getFairLock(name).lock()
else if (side !== undefined) await holdfast.getReadWriteLock(name)[side]().lock()
else await holdfast.getLock(name).lock()
tell('acquired')
