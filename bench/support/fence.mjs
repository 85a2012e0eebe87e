// Who watches a quorum lock from outside: one server that takes no part in the lock and is never
// harmed. Holders tell it what they do; it keeps what a store with a fence would keep, and judges.
import { Redis } from 'ioredis'

/**
 * One script for each thing that a holder does: `enter`, `write` and `leave`, and `late` for what it
 * writes though it knows that its lease is lost. A token lower than the highest one seen is refused,
 * as is the highest in the hands of somebody else.
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

/** The holder's side. */
export class Fence {
  #redis
  /** A name for each lease: holds that follow one another in a client can have one owner. */
  #names = new WeakMap()
  #named = 0

  constructor(url) {
    this.#redis = new Redis(url)
    this.#redis.defineCommand('see', { numberOfKeys: 2, lua: SEE })
  }

  /**
   * @param at a moment at which the lease was valid by the holder's clock
   * @returns 'done', or why it was refused
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
 * What the journals say, whatever was answered: holders whose leases were valid at one time, on the
 * clock that all processes of a machine share, and tokens that did not rise from one to the next.
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

/** From when to when each was seen to be valid; what it did after its loss does not count. */
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
