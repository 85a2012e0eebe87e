import { addressOf, type Endpoint, redisCli } from '../../servers/endpoint.ts'
import { openServer, type ServerClient } from '../../servers/open-server.ts'
import {
  type ClientTerms,
  type DeploymentFacts,
  factOf,
  NOT_ASKED,
  type ServerFacts,
} from './facts.ts'
import { namesOf } from './names.ts'
import { readClock } from './read-clock.ts'
import { readConfig } from './read-config.ts'
import { readRights } from './read-rights.ts'
import { scanKeys } from './scan-keys.ts'

/** The limits of the requests to one server. */
export interface Budget {
  /** The time limit of all requests over one connection together, in milliseconds. */
  readonly timeoutMs: number
  /** The approximate limit of keys to examine on one server. With 0, no keys are examined. */
  readonly scanKeys: number
}

export interface ServerQuestion {
  readonly deployment: DeploymentFacts['deployment']
  readonly terms: ClientTerms
  readonly budget: Budget
  readonly as?: ServerFacts['as']
}

/** Gathers all facts about one server. Never rejects: an unknown fact states the reason. */
export async function readServer(
  endpoint: Endpoint,
  question: ServerQuestion,
): Promise<ServerFacts> {
  const { timeoutMs } = question.budget
  let client: ServerClient
  try {
    client = await openServer(endpoint, timeoutMs)
  } catch (error) {
    return unreachable(endpoint, question, (error as Error).message)
  }
  try {
    return await readFacts(client, question)
  } finally {
    client.close()
  }
}

/** Sends the quick requests first. The scan of keys gets at most the remaining time. */
async function readFacts(client: ServerClient, question: ServerQuestion): Promise<ServerFacts> {
  const { deployment, terms, budget, as = 'master' } = question
  const [info, config] = await Promise.all([
    factOf(async () => namesOf(await client.send('INFO'))),
    readConfig(client),
  ])
  const { role, redis_mode: mode } = 'value' in info ? info.value : {}
  const hasLocks = as === 'master' && role !== 'slave' && mode !== 'sentinel'
  const clock = hasLocks ? await factOf(() => readClock(client)) : NOT_ASKED
  const rights = hasLocks ? await factOf(() => readRights(client, deployment, terms)) : NOT_ASKED
  const keys =
    hasLocks && budget.scanKeys > 0
      ? await factOf(() => scanKeys(client, terms.keyPrefix, budget.scanKeys))
      : NOT_ASKED
  return {
    ...named(client.endpoint, as),
    unreachable: undefined,
    info,
    config,
    clock,
    rights,
    keys,
  }
}

function named(endpoint: Endpoint, as: ServerFacts['as']) {
  return { address: addressOf(endpoint), cli: redisCli(endpoint), as }
}

function unreachable(
  endpoint: Endpoint,
  { as = 'master' }: ServerQuestion,
  why: string,
): ServerFacts {
  const none = { unknown: why }
  const facts = { info: none, config: none, clock: none, rights: none, keys: none }
  return { ...named(endpoint, as), unreachable: why, ...facts }
}
