// Faults of the connections from one client to one server, or to all servers.
import { setTimeout as pause } from 'node:timers/promises'

export const NETWORK = {
  cut: async (ways) => {
    for (const way of ways) way.cut()
  },
  'cut again and again': async (ways, ms, random) => {
    for (const end = performance.now() + ms; performance.now() < end; await pause(random() * 50)) {
      for (const way of ways) way.cut()
    }
  },
  refuse: (ways, ms) => during(ways, ms, (way) => way.refuse()),
  'half open': (ways, ms) => during(ways, ms, (way) => way.halfOpen()),
  'black hole, late': (ways, ms) => during(ways, ms, (way) => way.block('toServer', 'toClient')),
  'black hole, lost': (ways, ms) =>
    during(ways, ms, (way) => way.block('toServer', 'toClient'), false),
  'requests late': (ways, ms) => during(ways, ms, (way) => way.block('toServer')),
  'replies late': (ways, ms) => during(ways, ms, (way) => way.block('toClient')),
  'replies lost': (ways, ms) => during(ways, ms, (way) => way.block('toClient'), false),
  slow: (ways, ms, random) => {
    const delayMs = 1 + random() * 60
    return during(ways, ms, (way) => way.delay(delayMs))
  },
  'odd answers': (ways, ms, random) => {
    const count = 1 + Math.floor(random() * 3)
    return during(ways, ms, (way) => way.answerOddly(count))
  },
}

async function during(ways, ms, hurt, deliver = true) {
  for (const way of ways) hurt(way)
  await pause(ms)
  for (const way of ways) way.heal(deliver)
}
