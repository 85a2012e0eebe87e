import { randomUUID } from 'node:crypto'
import { Holdfast, NotDurableError } from '../../../src/index.ts'
import type { Needs } from '../../inspection/redis/kinds/kind.ts'
import type { Endpoint } from '../../servers/endpoint.ts'
import { isReply, type ServerClient } from '../../servers/open-server.ts'
import type { ClientTerms, MissingRights, RightsFacts } from './facts.ts'
import { needsOf } from './rights.ts'

type DeploymentKind = 'server' | 'masters' | 'cluster' | 'sentinel'

type RightsCommand = readonly string[]

/**
 * Commands that test if the login may use a key. If the login may not run a command at all, the
 * next command is tried. The first command needs both the right to read and the right to write.
 */
const TOUCHES: readonly ((key: string) => RightsCommand)[] = [
  (key) => ['HINCRBY', key, 'f', '1'],
  (key) => ['SET', key, '1'],
  (key) => ['HGET', key, 'f'],
  (key) => ['EXISTS', key],
]
const TELLS: readonly ((channel: string) => RightsCommand)[] = [
  (channel) => ['PUBLISH', channel, '0'],
  (channel) => ['SUBSCRIBE', channel],
]

/**
 * Finds the rights that locks need and the login lacks, with `ACL DRYRUN` (Redis 7). If the server
 * refuses `ACL DRYRUN`, acquires a test lock and reports only the result. For a cluster, rejects
 * instead.
 */
export async function readRights(
  client: ServerClient,
  deployment: DeploymentKind,
  terms: ClientTerms,
): Promise<RightsFacts> {
  const { login } = client.endpoint
  const { keyPrefix, durability } = terms
  const user = await client.send('ACL', 'WHOAMI').then(String, () => login.user ?? 'default')
  const name = `${keyPrefix}holdfast-doctor`
  const { needed, optional } = needsOf(deployment, name, keyPrefix, durability)
  const denied = (command: RightsCommand) => isDenied(client, user, command)
  try {
    await denied(['PING'])
  } catch (error) {
    if (deployment === 'cluster' || !isReply(error)) throw error
    const refusal = await tryLock(client.endpoint, terms)
    return { user, by: 'a lock', missing: [], refusal }
  }
  const missing = await Promise.all(
    [...needed, ...optional].map((needs) => missingOf(needs, denied)),
  )
  const lacking = missing.filter((one) => one.commands.length + one.patterns.length > 0)
  return { user, by: 'ACL DRYRUN', missing: lacking, refusal: undefined }
}

/**
 * @returns the reason why Redis denies the command; undefined if the login may run the command.
 * Rejects if Redis refuses `ACL DRYRUN` itself
 */
async function isDenied(
  client: ServerClient,
  user: string,
  command: RightsCommand,
): Promise<string | undefined> {
  const answer = await client.send('ACL', 'DRYRUN', user, ...command)
  return answer === 'OK' ? undefined : String(answer)
}

async function missingOf(
  { kind, commands, patterns }: Needs,
  denied: (command: RightsCommand) => Promise<string | undefined>,
): Promise<MissingRights> {
  const refused = await Promise.all(
    commands.map(async (command) => {
      try {
        const why = await denied(command)
        return why !== undefined && isOfCommand(why)
      } catch (error) {
        if (!isReply(error)) throw error
        return true // The server does not know the command, or knows it by another name.
      }
    }),
  )
  const outside = await Promise.all(patterns.map((pattern) => isOutside(pattern, denied)))
  const isRefused = (_: unknown, i: number) => refused[i]
  return {
    kind,
    commands: commands.filter(isRefused).map(nameOf),
    patterns: patterns.filter((_, i) => outside[i]),
  }
}

/**
 * True if the login may not use keys or channels of this pattern. Tests with the first command that
 * the login may run. False if the login may run none of the commands.
 */
async function isOutside(
  pattern: string,
  denied: (command: RightsCommand) => Promise<string | undefined>,
): Promise<boolean> {
  const name = pattern.slice(1).replace(/\*$/, 'holdfast-doctor')
  for (const command of pattern.startsWith('&') ? TELLS : TOUCHES) {
    const why = await denied(command(name))
    if (why === undefined || !isOfCommand(why)) return why !== undefined
  }
  return false
}

/** True if Redis denies the command itself; false if Redis denies the key or the channel. */
const isOfCommand = (why: string): boolean => /to run the/.test(why)

/** Returns the name of a command in ACL rules, such as `CLUSTER|SLOTS`. */
function nameOf([command, second]: readonly string[]): string {
  return command === 'CLUSTER' ? `${command}|${second}` : String(command)
}

/**
 * Acquires a lock with a random name, inspects the lock and releases it. The token counter of the
 * lock expires after two seconds.
 *
 * @returns the error message; undefined if the lock worked
 */
async function tryLock(
  endpoint: Endpoint,
  { keyPrefix, durability }: ClientTerms,
): Promise<string | undefined> {
  const { host, port, path, database, login, tls } = endpoint
  const redis = {
    ...(path === undefined ? { host, port } : { path }),
    db: database,
    ...(login.user !== undefined && { username: login.user }),
    ...(login.pass !== undefined && { password: login.pass }),
    ...(tls !== undefined && {
      tls: {
        ...(tls.ca && { ca: tls.ca }),
        ...(tls.cert && { cert: tls.cert }),
        ...(tls.key && { key: tls.key }),
      },
    }),
  }
  const times = { leaseMs: 2_000, counterTtlMs: 1_000, commandTimeoutMs: 500, outageMs: 1_000 }
  const durable = durability !== 0 && { durability: { replicas: durability, timeoutMs: 500 } }
  const holdfast = new Holdfast({ redis, keyPrefix, ...times, ...durable })
  holdfast.on('error', () => undefined) // The call rejects with the same error.
  try {
    const lock = holdfast.getLock(`holdfast-doctor:${randomUUID()}`)
    const signal = AbortSignal.timeout(2_000)
    await lock.using(() => lock.inspect(), { leaseMs: 2_000, signal })
    return undefined
  } catch (error) {
    // Another check reports missing replicas, so this error counts as a success.
    return error instanceof NotDurableError ? undefined : (error as Error).message
  } finally {
    await holdfast.close()
  }
}
