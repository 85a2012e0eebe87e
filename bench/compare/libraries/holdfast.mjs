import { Holdfast } from '../../../dist/esm/src/index.js'

/** `getLock`, or `getFairLock` if `fair` is true. Several URLs make a quorum. */
export async function open(url, { fair = false, leaseMs } = {}) {
  const servers = Array.isArray(url) ? { masters: url, newDeployment: true } : { redis: url }
  const client = new Holdfast({ ...servers, ...(leaseMs && { leaseMs }) })
  client.on('error', () => {})
  const lockOf = (name) => (fair ? client.getFairLock(name) : client.getLock(name))
  await lockOf('warm-up').isLocked()
  return {
    async acquire(name) {
      const lease = await lockOf(name).lock()
      return () => lease.release()
    },
    /** Runs `work` as the holder of the lock, with a function that re-enters it. */
    nested: (name, work) =>
      lockOf(name).using(() =>
        work(async () => {
          const lease = await lockOf(name).lock()
          return () => lease.release()
        }),
      ),
    close: () => client.close(),
  }
}
