// The demo: worker processes settle a file of orders against shared accounts, each account under
// its own lock; one of them is killed on the way; in the end every cent is in its place.
//
//   npm run demo                 with the locks
//   npm run demo -- --unsafe     the same without them
//
// This file reads the options and sees to it that nothing is left behind; run.mjs has the story.
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

/** What has to be ended in whatever way the run ends; the youngest first. */
const ends = []
let ending
let isInterrupted = false

for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
  process.on(signal, () => interrupt(128 + number, `${signal}: ending the workers and the server.`))
}
// Nobody reads any more, as in `npm run demo | head`.
process.stdout.on('error', () => interrupt(1))

async function interrupt(exitCode, words) {
  // The second time nothing is waited for: what still runs is killed at the exit.
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
  // After an interrupt, what fails does so because its end has come.
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
