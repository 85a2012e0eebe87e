/** Several tasks that take one lock as often as they can, for a while. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Holdfast } from 'holdfast'
import { onMessage, tell } from '../support/child.mjs'

const [port] = process.argv.slice(2)
const holdfast = new Holdfast({ redis: { host: '127.0.0.1', port: Number(port) } })
const lock = holdfast.getLock('it')
await holdfast.getLock('warm').using(() => {})

onMessage(async ({ forMs, tasks }) => {
  const end = performance.now() + forMs
  const tokens = []
  const task = async () => {
    while (performance.now() < end) {
      await lock.using(async ({ token }) => {
        tokens.push(token)
        await nextTurn()
      })
    }
  }
  await Promise.all(Array.from({ length: tasks }, task))
  await holdfast.close()
  tell({ tokens })
})
tell('ready')
