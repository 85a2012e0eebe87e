import type { KindView } from './kind.ts'
import { lock } from './lock.ts'

/** The lock of a job has this text before the name of the job. */
const PREFIX = 'job:'

/** Jobs. Their lock is a plain lock, and a record has the last run. */
export const job: KindView<'job'> = {
  kind: 'job',
  inErrors: 'a lock',
  isPossibleName: (name) => name.includes(PREFIX),
  async read(client, name) {
    if (!name.startsWith(PREFIX) || name === PREFIX) return null
    const info = await client.job(name.slice(PREFIX.length)).inspect()
    if (info.last === null) return null
    return { ...(await lock.read?.(client, name)), job: info }
  },
  leaks: true,
  hidesWaiters: true,
  // The owner of a run holds a plain lock.
  holdOf: () => 'lock',
  stateOf({ holders, job: { last, missed } = { last: null, missed: 0 } }) {
    if (holders.length > 0) {
      return { state: 'held', stateText: last?.state === 'running' ? 'running' : 'held' }
    }
    const ended = last?.state ?? 'free'
    const late = missed === 0 ? [] : [`${missed} tick${missed === 1 ? '' : 's'} missed`]
    const isWrong = ended === 'failed' || ended === 'crashed'
    const words = isWrong || missed === 0 ? [ended, ...late] : late
    const sentences = [
      ...(isWrong ? [`The last run ${ended === 'failed' ? 'failed' : 'has crashed'}.`] : []),
      ...late.map((text) => `${text} since the last run began.`),
    ]
    return {
      state: 'free',
      stateText: words.join(', '),
      ...(sentences.length > 0 && { problem: sentences.join(' ') }),
    }
  },
  whenFree: 'the job does not run',
}
