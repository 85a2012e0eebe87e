// Calls the scripts of Holdfast on all masters with as little code as possible. The operation ends when a majority has
// answered. The difference to Holdfast is the cost of its client.
import { release } from '../../../.cache/modules/src/servers/redis/scripts/lock.generated.js'
import { vote } from '../../../.cache/modules/src/servers/redis/scripts/quorum.generated.js'
import { BIRTH, letVote } from '../../support/masters.mjs'
import { openMasters } from './floor-masters.mjs'

const LEASE_MS = 30_000
const COUNTER_MS = 86_400_000
const NEVER = 0

export async function open(urls) {
  const { masters, onMost, close } = await openMasters(urls)
  for (const master of masters) {
    await Promise.all([vote, release].map(({ script }) => master.script('LOAD', script.source)))
    await letVote(master)
  }
  const run = (master, { script }, name, ...args) =>
    master.evalsha(script.sha1, 2, name, `redisson_lock_token:{${name}}`, ...args)
  let ids = 0
  return {
    async acquire(name) {
      ids += 1
      const owner = `floor-of-our-scripts:${process.pid}.${ids}`
      const votes = await onMost((master) =>
        run(master, vote, name, owner, LEASE_MS, NEVER, COUNTER_MS, BIRTH, LEASE_MS),
      )
      if (votes.some(([kind]) => kind !== 'granted')) throw new Error(`${name} is not granted`)
      const channel = `redisson_lock__channel:{${name}}`
      return () => onMost((master) => run(master, release, name, owner, '', channel, 'PUBLISH'))
    },
    close,
  }
}
