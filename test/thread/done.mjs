// Holds a lock with a watchdog thread, and has nothing else to do.
import { Holdfast } from '../../dist/esm/index.js'

const client = new Holdfast({ redis: process.argv[2], leaseMs: 500, watchdogThread: true })
await client.getLock('done').lock()
