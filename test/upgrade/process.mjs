// One process of a service, which uses the given version of the library. It uses each kind of lock until it is stopped.
// It reports each acquisition to a witness.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'

const { library, name, url, masters, witnessUrl, keepMs } = JSON.parse(process.argv[2])
const { Holdfast } = await import(library)
const witness = new Redis(witnessUrl)
const stopped = new AbortController()

/** Counts the holders, and which version followed which version. Tokens of one name must rise. */
const ENTER = `
  local inside = redis.call('HINCRBY', 'inside', ARGV[1], 1)
  if inside > tonumber(redis.call('HGET', 'most', ARGV[1]) or 0) then redis.call('HSET', 'most', ARGV[1], inside) end
  local last = redis.call('HGET', 'last', ARGV[1]) or ARGV[2]
  redis.call('HINCRBY', 'turns', ARGV[1] .. ' ' .. last .. '>' .. ARGV[2], 1)
  redis.call('HSET', 'last', ARGV[1], ARGV[2])
  redis.call('HINCRBY', 'worked', ARGV[3], 1)
  local token = tonumber(ARGV[4])
  if token > 0 then
    if token <= tonumber(redis.call('HGET', 'token', ARGV[1]) or 0) then
      redis.call('RPUSH', 'wrong', ARGV[1] .. ': token ' .. ARGV[4] .. ' of ' .. ARGV[3] .. ' is not above the last')
    end
    redis.call('HSET', 'token', ARGV[1], ARGV[4])
  end`

async function work(kind, token = 0) {
  const version = name.split('-')[0]
  await witness.eval(ENTER, 0, kind, version, `${name} ${kind}`, token)
  await pause(Math.random() * 4)
  await witness.hincrby('inside', kind, -1)
}

/** Repeats a turn until the process is stopped. The first error ends the process, and is reported. */
async function repeat(kind, turn) {
  while (!stopped.signal.aborted) {
    try {
      await turn()
    } catch (error) {
      if (stopped.signal.aborted && error === stopped.signal.reason) return
      await witness.rpush('wrong', `${kind} of ${name}: ${error.stack}`)
      process.exit(1)
    }
    await pause(Math.random() * 6)
  }
}

const settings = { leaseMs: 20_000, commandTimeoutMs: 5_000, outageMs: 20_000 }
const ofMajority = { ...settings, longestLeaseMs: 60_000 }
const holdfast = new Holdfast({ redis: url, ...settings })
const quorum = new Holdfast({ masters, newDeployment: true, ...ofMajority })
/** An earlier version refuses the option `keepMs`. Its clients then compete with clients that keep the lock. */
const keeper = new Holdfast({ redis: url, ...settings, ...(keepMs && { keepMs }) })
/** A client of each master. Each client has one vote for the RedLock. */
const voters = masters.map((master) => new Holdfast({ redis: master, ...ofMajority }))
const slots = holdfast.getSemaphore('slots')
const quota = holdfast.getPermitExpirableSemaphore('quota')
const latch = holdfast.getCountDownLatch('latch')
const { signal } = stopped
const under = (kind, lock) =>
  repeat(kind, () => lock.using(({ token }) => work(kind, token), { signal }))
const stock = holdfast.getReadWriteLock('stock')

process.once('disconnect', () => process.exit(1))
process.on('message', () => stopped.abort(new Error('the process is to stop')))
const all = [
  under('plain', holdfast.getLock('plain')),
  under('plain', holdfast.getLock('plain')),
  under('fair', holdfast.getFairLock('fair')),
  under('write', stock.writeLock()),
  // An earlier version has no `upgrade()`, but its holder of the upgradable lock can acquire the write lock.
  repeat('upgradable', () =>
    stock.upgradableLock().using(
      async () => {
        await work('upgradable')
        await stock.writeLock().using(({ token }) => work('write', token), { signal })
      },
      { signal },
    ),
  ),
  repeat('read', () => stock.readLock().using(() => work('read'), { signal })),
  repeat('slots', async () => {
    if (!(await slots.tryAcquire({ waitMs: 20_000, signal }))) return
    await work('slots')
    await slots.release()
  }),
  repeat('quota', () => quota.using(() => work('quota'), { signal })),
  repeat('latch', async () => {
    await latch.trySetCount(2)
    const opened = latch.await({ waitMs: 10_000 })
    await latch.countDown()
    await latch.countDown()
    if (!(await opened)) throw new Error('the latch did not open within 10 s')
    await work('latch')
  }),
  repeat('election', () =>
    holdfast.getLeaderElection('election').lead(({ token }) => work('election', token), { signal }),
  ),
  under('quorum', quorum.getLock('quorum')),
  under('redlock', voters[0].getRedLock(...voters.map((voter) => voter.getLock('redlock')))),
  under('kept', keeper.getLock('kept')),
  repeat('multi', () =>
    holdfast
      .getMultiLock(holdfast.getLock('multi-a'), holdfast.getLock('multi-b'))
      .using(({ leases }) => work('multi', leases[0].token), { signal }),
  ),
]
await Promise.all(all)
await Promise.all([holdfast, quorum, keeper, ...voters].map((client) => client.close()))
await witness.quit()
process.removeAllListeners('disconnect')
process.disconnect()
