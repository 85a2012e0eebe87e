// A process whose callers use the lock of another library, and tell the witness what they do. It looks
// at what the library says of its lock before it works on. Started as client.mjs is.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { now, pick, randomFrom } from '../random.mjs'
import { LIBRARIES } from './libraries.mjs'

const { label, seed, options, names, callers, witnessPort, control } = JSON.parse(process.argv[2])
const random = randomFrom(seed)
const socket = connect(witnessPort, '127.0.0.1').setNoDelay(true)
const waiting = new Map()
let ids = 0
let running = true

createInterface({ input: socket }).on('line', (line) => {
  const [id] = line.split('\t')
  waiting.get(id)?.()
  waiting.delete(id)
})

function tell(kind, id, said = {}) {
  socket.write(`${JSON.stringify({ kind, id, ...said })}\n`)
  return new Promise((resolve) => waiting.set(id, resolve))
}

async function call(acquire) {
  while (running) {
    ids += 1
    const id = `${label}.${process.pid}.${ids}`
    const lock = pick(random, names)
    await tell('ask', id, { lock, client: id })
    const held = await acquire(lock).catch(() => undefined)
    if (held === undefined || !held.valid()) {
      await tell('drop', id)
      await held?.release().catch(() => {})
      continue
    }
    let token = Date.now() * 1_000 // They have none; it is not what they are judged by.
    token += ids / 1_000
    await tell('enter', id, { result: 'granted', token, validUntil: now() })
    await pause(random() * 10)
    await tell('leave', id, held.valid() ? { validUntil: now() } : {})
    await held.release().catch(() => {})
  }
}

process.on('unhandledRejection', () => {})
process.on('message', async ({ kind, ms }) => {
  if (kind === 'stall') for (const end = now() + ms; now() < end; );
  if (kind === 'stop') {
    running = false
    process.send({ tally: {}, failures: {} })
  }
})
process.on('disconnect', () => process.exit())
const acquire = await LIBRARIES[control](options.redis, 1_000)
for (let i = 0; i < callers; i++) void call(acquire)
