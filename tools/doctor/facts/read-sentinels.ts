import { addressOf, type Endpoint, redisCli } from '../../servers/endpoint.ts'
import { openServer } from '../../servers/open-server.ts'
import type { Where } from '../../servers/where.ts'
import { answerOf, factOf, type Names, type SentinelFacts, type ServerFacts } from './facts.ts'
import { hostAndPort, pairsOf } from './names.ts'
import { readServer, type ServerQuestion } from './read-server.ts'

type WithSentinels = Extract<Where, { kind: 'sentinel' }>

/** Asks each Sentinel for the master, and then asks the master that most Sentinels name. */
export async function readSentinels(
  where: WithSentinels,
  question: ServerQuestion,
): Promise<{ sentinels: SentinelFacts[]; servers: ServerFacts[] }> {
  const { masterName } = where
  const sentinels = await Promise.all(
    where.sentinels.map((one) => readSentinel(one, masterName, question.budget.timeoutMs)),
  )
  const named = sentinels.map(({ master }) => answerOf(master)).filter((one) => one !== undefined)
  const votes = (one: Names) =>
    named.filter((other) => hostAndPort(other) === hostAndPort(one)).length
  const [most] = [...named].sort((a, b) => votes(b) - votes(a))
  if (most === undefined) return { sentinels, servers: [] }
  const { login, tls } = where
  const masterAddress = {
    host: String(most.ip),
    port: Number(most.port),
    path: undefined,
    database: 0,
  }
  return { sentinels, servers: [await readServer({ ...masterAddress, login, tls }, question)] }
}

async function readSentinel(
  endpoint: Endpoint,
  masterName: string,
  timeoutMs: number,
): Promise<SentinelFacts> {
  const names = { address: addressOf(endpoint), cli: redisCli(endpoint) }
  try {
    const client = await openServer(endpoint, timeoutMs)
    try {
      const read = async () => pairsOf(await client.send('SENTINEL', 'MASTER', masterName))
      return { ...names, unreachable: undefined, master: await factOf(read) }
    } finally {
      client.close()
    }
  } catch (error) {
    const why = (error as Error).message
    return { ...names, unreachable: why, master: { unknown: why } }
  }
}
