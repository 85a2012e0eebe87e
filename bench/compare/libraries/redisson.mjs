// Redisson in a JVM. The JVM runs the tasks of the scenarios itself.
import { startJava } from '../../support/java.mjs'

const CLIENT = 'bench'
const WARM_UP_MS = 2_000
const TO_QUEUE_MS = 25

export async function open(url, { kind = 'RLock' } = {}) {
  const java = await startJava()
  const ask = async (op, name, request) =>
    (await java.ask(op, { client: CLIENT, kind, names: [name], ...request })).value
  await java.ask('open', { client: CLIENT, port: Number(new URL(url).port) })
  await ask('rate', 'warm-up', { threads: 4, ms: WARM_UP_MS })
  return {
    lanes: (name, { inFlight, ms, isNested }) =>
      ask('rate', name, { threads: inFlight, ms, ...(isNested && { nested: true }) }),
    drain: (name, threads) => ask('drain', name, { threads, queueMs: TO_QUEUE_MS }),
    take: ({ name, callers, holdMs, startAt, ms }) =>
      ask('take', name, { threads: callers, holdMs, startMs: startAt, ms }),
    close: () => java.stop(),
  }
}
