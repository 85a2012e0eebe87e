// The shared state in Redis: balances, the queue of orders and the journal. This file acquires no locks. Its callers
// hold locks, so the balances are correct. Tokens let Redis refuse the late writes of earlier holders.
import { Redis } from 'ioredis'

/** If the clean-up is killed too, Redis deletes the keys of the demo after this time. */
const KEPT_S = 600

/**
 * The only write. A worker that dies has written an order completely or not at all, because the write is one script.
 * The script also removes the order from the list of the worker.
 *
 * If a token is not above the last token of its account, the lease of its holder has ended. The script then refuses
 * the write. Token 0 means "no lock". The script accepts token 0, because the unsafe run has no locks.
 */
const COMMIT = `
  local balances, tokens, done, doing, journal = unpack(KEYS)
  local order = ARGV[1]
  for i = 3, #ARGV, 3 do
    local account, token = ARGV[i], tonumber(ARGV[i + 2])
    local last = tonumber(redis.call('HGET', tokens, account) or 0)
    if token ~= 0 and token <= last then return 'stale' end
  end
  redis.call('LREM', doing, 1, order)
  if redis.call('SADD', done, order) == 0 then return 'done before' end
  for i = 3, #ARGV, 3 do
    redis.call('HSET', balances, ARGV[i], ARGV[i + 1])
    redis.call('HSET', tokens, ARGV[i], ARGV[i + 2])
  end
  if redis.call('RPUSH', journal, table.concat(ARGV, ' ')) == 1 then
    for _, key in ipairs({ tokens, done, journal }) do redis.call('EXPIRE', key, ${KEPT_S}) end
  end
  return 'written'
`

/** @typedef {{ account: string, cents: number, token: number }} Write */

export class Bank {
  #redis
  #prefix

  constructor(url, prefix) {
    this.#prefix = prefix
    this.#redis = new Redis(url, { scripts: { commit: { lua: COMMIT, numberOfKeys: 5 } } })
    // If the connection fails, the calls that need it reject.
    this.#redis.on('error', () => {})
  }

  async open(accounts, cents, orders) {
    const [balances, todo] = [this.#key('balances'), this.#key('todo')]
    await this.#redis
      .multi()
      .hset(balances, ...accounts.flatMap((account) => [account, cents]))
      .rpush(todo, ...orders.map((order) => order.id))
      .expire(balances, KEPT_S)
      .expire(todo, KEPT_S)
      .exec()
  }

  /** Moves the next order to the list of the worker. Returns its id, or null if there is no order. */
  take(worker) {
    return this.#move(this.#key('todo'), 'LEFT', this.#doing(worker), 'RIGHT')
  }

  /** Moves the unfinished orders of a worker back to the front of the queue, in their order. Returns their ids. */
  async giveBack(worker) {
    const ids = []
    for (;;) {
      const id = await this.#move(this.#doing(worker), 'RIGHT', this.#key('todo'), 'LEFT')
      if (id === null) return ids
      ids.unshift(id)
    }
  }

  async giveOneBack(worker, id) {
    const todo = this.#key('todo')
    await this.#redis
      .multi()
      .lrem(this.#doing(worker), 1, id)
      .lpush(todo, id)
      .expire(todo, KEPT_S)
      .exec()
  }

  async #move(from, fromSide, to, toSide) {
    const [[error, id]] = await this.#redis
      .multi()
      .lmove(from, to, fromSide, toSide)
      .expire(to, KEPT_S)
      .exec()
    if (error) throw error
    return id === null ? null : Number(id)
  }

  async balanceOf(account) {
    return Number(await this.#redis.hget(this.#key('balances'), account))
  }

  /**
   * @param {Write[]} writes
   * @returns {Promise<'written' | 'stale' | 'done before'>}
   */
  commit(orderId, worker, writes) {
    const keys = ['balances', 'tokens', 'done'].map((name) => this.#key(name))
    const values = writes.flatMap(({ account, cents, token }) => [account, cents, token])
    const journal = this.#key('journal')
    return this.#redis.commit(...keys, this.#doing(worker), journal, orderId, worker, ...values)
  }

  async doneCount() {
    return this.#redis.scard(this.#key('done'))
  }

  async balances() {
    const entries = Object.entries(await this.#redis.hgetall(this.#key('balances')))
    return new Map(entries.map(([account, cents]) => [account, Number(cents)]))
  }

  /** All writes in the order in which Redis did them. */
  async journal() {
    const lines = await this.#redis.lrange(this.#key('journal'), 0, -1)
    return lines.map((line) => {
      const [order, worker, ...rest] = line.split(' ')
      /** @type {Write[]} */
      const writes = []
      for (let i = 0; i < rest.length; i += 3) {
        writes.push({ account: rest[i], cents: Number(rest[i + 1]), token: Number(rest[i + 2]) })
      }
      return { order: Number(order), worker, writes }
    })
  }

  /** Removes only the keys of the run, because the server may also have keys of the user. */
  async remove(workers, lockNames) {
    const own = ['balances', 'tokens', 'done', 'todo', 'journal'].map((name) => this.#key(name))
    const lists = workers.map((worker) => this.#doing(worker))
    // The key of a lock is its name. The token counter has its own key. See docs/reference/keys.md.
    const locks = lockNames.map((name) => this.#key(name))
    const counters = locks.map((name) => `redisson_lock_token:{${name}}`)
    await this.#redis.unlink(...own, ...lists, ...locks, ...counters)
  }

  close() {
    this.#redis.disconnect()
  }

  #key(name) {
    return this.#prefix + name
  }

  #doing(worker) {
    return this.#key(`doing:${worker}`)
  }
}
