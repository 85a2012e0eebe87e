// Observes a quorum lock from outside. One server, which does not store the lock and never fails, receives reports of
// the holders. It keeps the data of a store that checks fencing tokens, and judges the reports.
import { Redis } from 'ioredis'

/**
 * One script for all actions of a holder: `enter`, `write`, `leave` and `late`. A `late` write comes from a holder
 * that knows the loss of its lease. The script refuses a token that is lower than the highest token so far. It also
 * refuses the highest token if another holder has used it.
 */
const SEE = `
local fence, journal = KEYS[1], KEYS[2]
local what, token, who, at = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local highest, whose, there = unpack(redis.call('HMGET', fence, 'token', 'whose', 'there'))
highest = tonumber(highest or 0)
redis.call('RPUSH', journal, table.concat(ARGV, ' '))
if tonumber(token) < highest then
  return there == '1' and 'stale, beside another' or 'stale'
end
if tonumber(token) == highest and whose ~= who then
  return 'twice'
end
local inside = what == 'enter' or what == 'write'
redis.call('HSET', fence, 'token', token, 'whose', who, 'there', inside and '1' or '0')
return 'done'
`

const FENCE = 'fence:'
const JOURNAL = 'journal:'

/** Sends the reports of the holders in one process. */
export class Fence {
  #redis
  /** A name for each lease, because consecutive holds of a client can have the same owner. */
  #names = new WeakMap()
  #named = 0

  constructor(url) {
    this.#redis = new Redis(url)
    this.#redis.defineCommand('see', { numberOfKeys: 2, lua: SEE })
  }

  /**
   * @param at a time at which the lease was valid, by the clock of the holder
   * @returns 'done', or the reason of a refusal
   */
  see(what, lease, at) {
    const { name, token } = lease
    const who = this.#nameOf(lease)
    return this.#redis.see(FENCE + name, JOURNAL + name, what, token, who, at.toFixed(3))
  }

  #nameOf(lease) {
    if (!this.#names.has(lease)) {
      this.#named += 1
      this.#names.set(lease, `${process.pid}:${this.#named}`)
    }
    return this.#names.get(lease)
  }

  close() {
    this.#redis.disconnect()
  }
}

/**
 * Finds errors in the journals, for every reported action, accepted or refused. An error is a pair of leases that
 * were valid at the same time, or a token that is not higher than an earlier token. The clock is the same for all
 * processes of the machine.
 */
export async function judge(admin) {
  const found = { holders: 0, overlaps: 0, regressions: 0, examples: [], enteredAt: [] }
  for (const key of await admin.keys(`${JOURNAL}*`)) {
    const holders = holdersOf(await admin.lrange(key, 0, -1))
    let [last, highest] = [{ to: -Infinity }, 0]
    for (const { token, from, to } of holders.sort((a, b) => a.from - b.from)) {
      found.enteredAt.push(from)
      if (from <= last.to) {
        found.overlaps += 1
        found.examples.push(
          `${key}: ${token} was let in ${(last.to - from).toFixed(1)} ms before ${last.token} was last valid`,
        )
      }
      if (token <= highest) {
        found.regressions += 1
        found.examples.push(`${key}: ${token} came after ${highest}`)
      }
      highest = Math.max(highest, token)
      if (to > last.to) last = { to, token }
    }
    found.holders += holders.length
  }
  found.enteredAt.sort((a, b) => a - b)
  return found
}

/** The time in which each holder had a valid lease. Actions after the loss do not count. */
function holdersOf(lines) {
  const holders = new Map()
  for (const line of lines) {
    const [what, token, who, at] = line.split(' ')
    if (what === 'late') continue
    const holder = holders.get(who) ?? { token: Number(token), from: Number(at) }
    holders.set(who, { ...holder, to: Number(at) })
  }
  return [...holders.values()]
}
