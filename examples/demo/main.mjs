// The demo: worker processes settle a file of orders against shared accounts. Each account has its own lock. One worker
// is killed during the run. At the end, all balances are correct.
//
//   npm run demo                 with the locks
//   npm run demo -- --unsafe     the same without them
//
// This file reads the options, and cleans up at the end. run.mjs has the steps of the demo.
import { parseArgs } from 'node:util'
import { ACCOUNTS, readOrders } from './orders.mjs'
import { run } from './run.mjs'
import { amount, endProgress, red, say } from './screen.mjs'

const HELP = `npm run demo [-- options]

  Worker processes settle ${amount(readOrders().length)} orders against ${ACCOUNTS.length} accounts in Redis. An order reads two
  balances, thinks, and writes both. The balances are right only if no other worker does so
  at the same time. A lock for each account ensures this, even when a worker is killed.

  --unsafe     the same without the locks: shows the wrong balances
  --embedded   use the embedded server, even if this machine has a server
  --help       this text

  The server is the one at REDIS_URL; else valkey-server or redis-server of this machine;
  else an embedded Valkey in WebAssembly. NO_COLOR=1 turns the colours off.

  Exits with 0 when the run showed what it is to show, with 1 when a check failed.`

const options = readOptions()

/** The clean-up functions. They run at every end of the demo, the newest first. */
const ends = []
let ending
let isInterrupted = false

for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
  process.on(signal, () => interrupt(128 + number, `${signal}: ending the workers and the server.`))
}
// The program that reads the output has ended, as in `npm run demo | head`.
process.stdout.on('error', () => interrupt(1))

async function interrupt(exitCode, words) {
  // At the second interrupt the process exits at once. The exit kills the child processes that still run.
  if (isInterrupted) process.exit(exitCode)
  isInterrupted = true
  endProgress()
  if (words) say(words)
  await endAll()
  process.exit(exitCode)
}

try {
  const showedIt = await run(options, (end) => ends.push(end))
  await endAll()
  process.exitCode = showedIt ? 0 : 1
} catch (error) {
  // After an interrupt, calls fail because the clean-up has ended their workers or their server.
  if (!isInterrupted) {
    endProgress()
    say(red(`The demo failed: ${error.message}`))
    await endAll()
    process.exit(1)
  }
}

function endAll() {
  ending ??= (async () => {
    while (ends.length > 0) {
      await ends
        .pop()()
        .catch((error) => say(red(`Not cleaned up: ${error.message}`)))
    }
  })()
  return ending
}

function readOptions() {
  const flag = { type: 'boolean', default: false }
  try {
    const { values } = parseArgs({ options: { unsafe: flag, embedded: flag, help: flag } })
    if (!values.help) return values
    say(HELP)
    process.exit(0)
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`)
    process.exit(2)
  }
}
