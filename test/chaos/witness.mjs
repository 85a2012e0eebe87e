// A process apart from locks and Redis: it writes down, on its own clock, who asked for a lock, who
// entered with which token, until when that one believed its lease to be valid, and who left.
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { judge } from './judge.mjs'
import { now } from './random.mjs'

/** By lock: `{ lock, client, askedAt, enteredAt, token, validUntil, leftAt }` */
const holds = new Map()
const forgotten = []

const listener = createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('error', () => {})
  const own = new Map()
  const answers = []
  const lines = createInterface({ input: socket })
  lines.on('error', () => {}) // A killed client.
  lines.on('line', (line) => {
    const { kind, id, ...said } = JSON.parse(line)
    const at = now()
    if (kind === 'forces') {
      forgotten.push({ id, lock: said.lock, from: at, to: Infinity })
    } else if (kind === 'forced') {
      forgotten.find((one) => one.id === id).to = at
    } else if (kind === 'ask') {
      own.set(id, { ...said, askedAt: at, validUntil: 0 })
    } else if (kind === 'enter') {
      const hold = own.get(id)
      Object.assign(hold, said, { enteredAt: at })
      const all = holds.get(hold.lock) ?? []
      holds.set(hold.lock, all)
      all.push(hold)
    } else {
      const hold = own.get(id)
      hold.validUntil = Math.max(hold.validUntil, said.validUntil ?? 0)
      if (kind === 'leave') {
        hold.leftAt = at
        own.delete(id)
      } else if (kind === 'drop') own.delete(id)
    }
    if (kind !== 'valid' && answers.push(id) === 1) {
      // Together with those to the other lines that came with this one.
      setImmediate(() => socket.write(`${answers.splice(0).join('\n')}\n`))
    }
  })
})
listener.listen(0, '127.0.0.1', () => process.send({ port: listener.address().port }))

process.on('message', ({ kind, id, ...said }) => {
  // For so long a lock may be given away although somebody has it: force, a flush, a failover.
  if (kind === 'forgets') forgotten.push({ id, to: Infinity, ...said })
  if (kind === 'forgot') forgotten.find((one) => one.id === id).to = said.to
  if (kind === 'count') {
    const counts = [...holds].map(([lock, all]) => [lock, all.length])
    process.send({ entered: Object.fromEntries(counts) })
  }
  if (kind === 'judge') process.send({ verdict: judge(holds, forgotten) })
})
process.on('disconnect', () => process.exit())
