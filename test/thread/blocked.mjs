// A process whose event loop can be blocked on command, with one lock that its watchdog keeps.
import { Holdfast } from '../../dist/esm/index.js'
import { onMessage, tell } from '../support/child.mjs'

const { url, options } = JSON.parse(process.argv[2])
const client = new Holdfast({ redis: url, ...options })
client.on('error', (error) => tell({ error: error.message }))
let lease

onMessage(async ({ command, name, ms }) => {
  if (command === 'lock') {
    lease = await client.getLock(name).lock()
    tell({ locked: lease.token })
  } else if (command === 'block') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    // The first reads after the block: no timer and no message has had its turn.
    tell({ blocked: ms, valid: lease.valid, aborted: lease.signal.aborted })
  } else if (command === 'release') {
    tell({ released: await lease.release() })
  } else {
    await client.close()
    tell({ closed: true })
  }
})
