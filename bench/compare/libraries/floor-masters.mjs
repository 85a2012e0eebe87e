// The lowest cost of a lock on a majority of masters. Each master gets the commands of the floor for one server, all
// at the same time. The operation ends when a majority has answered.
import { connectAsHoldfast } from './connection.mjs'
import { RELEASE } from './floor-set.mjs'

/** Resolves when `count` of the promises have resolved. */
function most(promises, count) {
  return new Promise((resolve, reject) => {
    let resolved = 0
    const one = () => {
      resolved += 1
      if (resolved === count) resolve()
    }
    for (const promise of promises) promise.then(one, reject)
  })
}

export async function open(urls) {
  const masters = await Promise.all(urls.map((url) => connectAsHoldfast(url)))
  const [release] = await Promise.all(masters.map((master) => master.script('LOAD', RELEASE)))
  const majority = Math.floor(masters.length / 2) + 1
  const onMost = (send) => most(masters.map(send), majority)
  let ids = 0
  return {
    async acquire(name) {
      ids += 1
      const id = `${process.pid}:${ids}`
      await onMost((master) => master.set(name, id, 'PX', 30_000, 'NX'))
      return () => onMost((master) => master.evalsha(release, 1, name, id))
    },
    close() {
      for (const master of masters) master.disconnect()
    },
  }
}
