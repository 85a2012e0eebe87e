// A process that uses neither locks nor Redis. It records on its own clock each request for a lock, each entry with
// its token, and each exit. It also records the end of each lease as its holder assumes it. Holders write to its two
// cells. At the end, it judges this history.
import { createWriteStream } from 'node:fs'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { check } from './checkers/check.mjs'
import { History } from './checkers/history.mjs'
import { stretchesOf } from './checkers/liveness.mjs'
import { judge } from './judge.mjs'
import { plot } from './plot.mjs'
import { epochMs, now } from './random.mjs'
import { UNANSWERED } from './record.mjs'

const history = new History()

const listener = createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('error', () => {})
  const answers = []
  const lines = createInterface({ input: socket })
  lines.on('error', () => {}) // A client process was killed.
  lines.on('line', (line) => {
    const message = JSON.parse(line)
    const value = history.hear(message, now())
    if (UNANSWERED.has(message.kind)) return
    const answer = value === undefined ? message.id : `${message.id}\t${value}`
    // All answers to one packet are sent together.
    if (answers.push(answer) > 1) return
    setImmediate(() => socket.write(`${answers.splice(0).join('\n')}\n`))
  })
})
listener.listen(0, '127.0.0.1', () => process.send({ port: listener.address().port }))

let lastBeat = now()
setInterval(() => {
  const lateMs = now() - lastBeat - 50
  if (lateMs > 200)
    history.faults.push({ what: 'the witness is late', from: lastBeat, to: now(), measured: true })
  lastBeat = now()
}, 50)

process.on('message', ({ kind, lock, id, ...said }) => {
  // During this time, a lock may be granted although another holder has it: force, a flush, a failover.
  if (kind === 'forgets') {
    history.forgets(id, lock, said.from ?? now())
    Object.assign(history.windows.at(-1), said)
  }
  if (kind === 'forgot') history.forgot(id, said.to ?? now())
  if (kind === 'emptied') history.emptied.push(said)
  if (kind === 'total') process.send({ total: history.operationCount })
  if (kind === 'operations') process.send({ operations: history.operations })
  if (kind === 'names') process.send({ names: namesBy(said.families) })
  if (kind === 'count') process.send({ entered: countByLock() })
  if (kind === 'judge') process.send({ verdict: judge(history.holds(), history.windows) })
  // Reports whether the calm was long enough. Only the witness knows all delays of processes.
  if (kind === 'calm') {
    const faults = [...said.faults, ...history.faults]
    const stretches = stretchesOf({ faults, about: { ...said.about, calmAt: now() } })
    process.send({ isCalm: stretches.some(({ from }) => from >= said.since) })
  }
  // The facts of the run, `about` and `faults`, and the files for the history and the plot.
  if (kind === 'check') void conclude(said)
})
process.on('disconnect', () => process.exit())

/** By name, the number of grants, count-downs of a latch, and calls that passed a barrier. */
function countByLock() {
  const isDone = ({ enteredAt, family, act, answer }) =>
    enteredAt !== undefined ||
    (act === 'count-down' && typeof answer === 'number') ||
    (family === 'barrier' && act === 'await' && answer === true)
  return Object.fromEntries(
    [...history.attempts].map(([lock, all]) => [lock, all.filter(isDone).length]),
  )
}

function namesBy(families) {
  return [...history.attempts]
    .filter(([, [{ family }]]) => families.includes(family))
    .map(([name]) => name)
}

async function conclude({ about, faults, files, numbers }) {
  Object.assign(history.about, about, { epochMs: epochMs() })
  for (const [name, one] of numbers) history.numbers.set(name, one)
  history.faults.push(...faults)
  if (files.history) await write(files.history, history.lines())
  const report = check(history)
  if (files.plot) await write(files.plot, [plot(history, report)])
  process.send({ report })
}

async function write(file, lines) {
  const stream = createWriteStream(file)
  for (const line of lines) {
    if (!stream.write(`${line}\n`)) await new Promise((resolve) => stream.once('drain', resolve))
  }
  await new Promise((resolve) => stream.end(resolve))
}
