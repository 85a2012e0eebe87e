/** A Node process that takes a lock, however long that lasts, and holds it. */
import { Holdfast } from 'holdfast'
import { onMessage, tell } from '../../support/child.mjs'

const [port, name, leaseMs] = process.argv.slice(2)
const redis = { host: '127.0.0.1', port: Number(port) }
const holdfast = new Holdfast({ redis, leaseMs: Number(leaseMs) })
onMessage(() => {})
await holdfast.getLock(name).lock()
tell('acquired')
