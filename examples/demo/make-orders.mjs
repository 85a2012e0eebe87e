// Writes orders.csv, the same on every machine: `node examples/demo/make-orders.mjs`.
import { writeFileSync } from 'node:fs'
import { ACCOUNTS, HOT_ACCOUNTS } from './orders.mjs'

const COUNT = 2_500
const SHARE_OF_HOT_ACCOUNTS = 0.5

const random = randomFrom(20_260)

function pick(accounts) {
  return accounts[Math.floor(random() * accounts.length)]
}

function anyAccount() {
  return random() < SHARE_OF_HOT_ACCOUNTS ? pick(HOT_ACCOUNTS) : pick(ACCOUNTS)
}

const lines = ['id,payer,payee,cents']
for (let id = 1; id <= COUNT; id++) {
  const payer = anyAccount()
  let payee = anyAccount()
  while (payee === payer) payee = anyAccount()
  lines.push([id, payer, payee, 1 + Math.floor(random() * 9_999)].join(','))
}
writeFileSync(new URL('orders.csv', import.meta.url), `${lines.join('\n')}\n`)

/** Random numbers from 0 to 1 that depend only on the seed (mulberry32). `Math.random` accepts no seed. */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
