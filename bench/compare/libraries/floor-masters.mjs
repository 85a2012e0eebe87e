// The lowest cost of a lock on a majority of masters. Each master gets the commands of the floor for one server, all
// at the same time. The operation ends when a majority has answered.
import { connectAsHoldfast } from './connection.mjs'
import { RELEASE } from './floor-set.mjs'

/** Resolves with the first `count` results. */
function most(promises, count) {
  return new Promise((resolve, reject) => {
    const results = []
    const one = (result) => {
      results.push(result)
      if (results.length === count) resolve(results)
    }
    for (const promise of promises) promise.then(one, reject)
  })
}

/** Connects to all masters. `onMost` sends a request to each master, and resolves with the answers of a majority. */
export async function openMasters(urls) {
  const masters = await Promise.all(urls.map((url) => connectAsHoldfast(url)))
  const majority = Math.floor(masters.length / 2) + 1
  return {
    masters,
    onMost: (send) => most(masters.map(send), majority),
    close() {
      for (const master of masters) master.disconnect()
    },
  }
}

export async function open(urls) {
  const { masters, onMost, close } = await openMasters(urls)
  const [release] = await Promise.all(masters.map((master) => master.script('LOAD', RELEASE)))
  let ids = 0
  return {
    async acquire(name) {
      ids += 1
      const id = `${process.pid}:${ids}`
      await onMost((master) => master.set(name, id, 'PX', 30_000, 'NX'))
      return () => onMost((master) => master.evalsha(release, 1, name, id))
    },
    close,
  }
}
