/** A program that does one thing and is done: whether it ends by itself is the question. */
import { Holdfast } from 'holdfast'

const [port, scenario] = process.argv.slice(2)
const holdfast = new Holdfast({
  redis: { host: '127.0.0.1', port: Number(port) },
  leaseMs: 2_000,
  commandTimeoutMs: 300,
  outageMs: 500,
})
const lock = holdfast.getLock('it')
const say = (text) => console.log(JSON.stringify(text))

const scenarios = {
  idle: () => {},
  using: () => lock.using(() => {}),
  released: async () => {
    await lock.lock()
    await lock.unlock()
  },
  held: () => lock.lock(),
  'held with a fixed lease': () => lock.lock(60_000),
  closed: async () => {
    await lock.using(() => {})
    await holdfast.close()
  },
  'held and closed': async () => {
    await lock.lock()
    await holdfast.close()
  },
  'refused the lock': async () => say({ got: await holdfast.getLock('taken').tryLock(1_000) }),
  'aborted its wait': () =>
    holdfast
      .getLock('taken')
      .lock({ signal: AbortSignal.timeout(100) })
      .catch((error) => say({ reason: error.name })),
  'closed while it waited': async () => {
    const wait = holdfast.getLock('taken').lock()
    setTimeout(() => holdfast.close(), 100)
    await wait.catch((error) => say({ code: error.code }))
  },
  'outage, closed': async () => {
    await lock.lock().catch((error) => say({ code: error.code }))
    await holdfast.close()
  },
  outage: () => lock.lock().catch((error) => say({ code: error.code })),
  waiting: () => holdfast.getLock('taken').lock(),
  'waiting for itself': async () => {
    process.on('warning', ({ name, code }) => say({ name, code }))
    await lock.lock()
    await lock.lock()
  },
}

if (!(scenario in scenarios)) throw new Error(`There is no scenario "${scenario}"`)
await scenarios[scenario]()
say('done')
