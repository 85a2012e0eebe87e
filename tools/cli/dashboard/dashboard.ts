import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { forNode, newDashboardOf } from '../../dashboard/serving.ts'
import { redisOf } from '../../servers/redis-of.ts'
import { type Command, EXIT, type Terminal } from '../command/command.ts'
import { readOptions, type ServeOptions, USAGE } from './options.ts'
import { newSession } from './session.ts'

/** `npx holdfast dashboard`: serves the page to users who know the token, until Ctrl-C. */
export const dashboard: Command = {
  name: 'dashboard',
  summary: 'serve a page that shows the locks, their holders and their waiters',
  usage: USAGE,
  async run(args, terminal) {
    return serve(readOptions(args, terminal.env), terminal)
  },
}

async function serve(options: ServeOptions, terminal: Terminal): Promise<number> {
  const { where, host, port, release, historyKey } = options
  const { out, err } = terminal
  const [redis, ...others] = redisOf(where)
  // With several masters, this command does not know which master has the history. So the page
  // shows no history.
  const history = redis && others.length === 0 ? { redis, key: historyKey } : undefined
  const board = newDashboardOf(where, { authorize: () => 'admin', release, history })
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    await board.close()
    err(`The page cannot be served on ${host}:${port}: ${(error as Error).message}\n`)
    return EXIT.failed
  }
  const { address, port: bound, family } = server.address() as AddressInfo
  const session = newSession(board.fetch, `holdfast_${bound}`)
  const answer = forNode(session.fetch)
  server.on('request', (request, response) => void answer(request, response))
  const interrupted = terminal.interrupted()
  const shown = family === 'IPv6' ? `[${address}]` : address
  out(`The dashboard is at http://${shown}:${bound}/?token=${session.token}\n`)
  if (!isLoopback(address)) {
    err(
      `The connection to ${shown} is not encrypted: anyone on the network path can read the token.\n`,
    )
  }
  if (!interrupted.aborted) await once(interrupted, 'abort')
  await board.close()
  server.closeAllConnections()
  server.close()
  return EXIT.ok
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}
