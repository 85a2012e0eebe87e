// A process whose callers use the lock of another library, and report to the witness. Before it works, it checks if
// the library reports the lock as held. run.mjs starts this process as it starts client.mjs.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { NAMES, PERMITS } from '../kinds.mjs'
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

/** The wanted mode or permits of a caller, first for the library and then for the witness. */
const WANTED = {
  lock: () => [{}, {}],
  'read-write': () => {
    const mode = random() < 0.7 ? 'read' : 'write'
    return [{ mode }, { family: 'read-write', mode }]
  },
  permits: () => [{ permits: 1 }, { family: 'permits', permits: 1, most: PERMITS }],
}

async function call({ kind, acquire, nameOf = (name) => name }) {
  while (running) {
    ids += 1
    const id = `${label}.${process.pid}.${ids}`
    const lock = nameOf(pick(random, kind === 'lock' ? names : NAMES[kind]))
    const [wanted, said] = WANTED[kind]()
    await tell('ask', id, { lock, client: id, ...said })
    const held = await acquire(lock, wanted).catch(() => undefined)
    if (held === undefined || !held.valid()) {
      await tell('drop', id)
      await held?.release().catch(() => {})
      continue
    }
    let token = Date.now() * 1_000 // These locks have no tokens, and the verdict on a control uses only overlaps.
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
const { kind, open } = LIBRARIES[control]
const opened = await open(options.redis, 1_000)
// Faults of this process also happen to the process of the library.
if (opened.pid !== undefined) process.send({ alsoPid: opened.pid })
for (let i = 0; i < callers; i++) void call({ ...opened, kind })
