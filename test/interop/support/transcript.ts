import { Redis } from 'ioredis'
import { allow, openSocket } from '../../support/allowances.ts'
import { eventually } from '../../support/eventually.ts'
import { lastingKeys } from '../../support/lasting-keys.ts'
import { atEnd } from '../../support/lifetime.ts'
import type { RedisServer } from '../../support/redis-server.ts'

/** One step of a transcript: the commands that Redis received, and the keys that they left. */
export interface Step {
  title: string
  /** The commands as MONITOR shows them. The commands of a script are indented. */
  commands: string[]
  /** All keys with their name, type, content and original expiry. */
  leaves: string[]
  /** The published messages. */
  tells: string[]
}

/** Replacements for texts that differ in each run. */
type Names = ReadonlyMap<string, string>

/** Records all commands that a server receives from now on. */
export class Monitor {
  readonly #server: RedisServer
  readonly #lines: { source: string; args: string[] }[] = []
  #own = ''
  #markers = 0

  constructor(server: RedisServer) {
    this.#server = server
  }

  async start(): Promise<this> {
    const { admin, host, port } = this.#server
    this.#own = /\baddr=(\S+)/.exec(String(await admin.client('INFO')))?.[1] ?? ''
    const redis = new Redis({ host, port, monitor: true, disableClientInfo: true })
    const withdraw = allow('TCPSocketWrap', () =>
      openSocket((redis as { stream?: { destroyed: boolean } }).stream),
    )
    atEnd(
      () => {
        redis.disconnect()
        withdraw()
      },
      { beforeCheck: true },
    )
    redis.on('monitor', (_: string, args: string[], source: string) =>
      this.#lines.push({ source, args }),
    )
    await eventually(() => String(redis.status) === 'monitoring')
    return this
  }

  /** The commands of other clients since the last call, after all commands so far have arrived. */
  async take(): Promise<{ inScript: boolean; args: string[] }[]> {
    const marker = `marker ${++this.#markers}`
    await this.#server.admin.echo(marker)
    const last = () => this.#lines.findIndex(({ args }) => args[1] === marker)
    await eventually(() => last() >= 0)
    return this.#lines
      .splice(0, last() + 1)
      .filter(({ source, args }) => source !== this.#own && !/^(ping|client)$/i.test(`${args[0]}`))
      .map(({ source, args }) => ({ inScript: source === 'lua', args }))
  }

  /** True if a command with this argument was seen since the last `take()`. */
  hasSeen(command: string, part: string): boolean {
    return this.#lines.some(
      ({ args }) => args[0]?.toLowerCase() === command && args.some((arg) => arg.includes(part)),
    )
  }
}

/**
 * Returns the step that has just been done.
 *
 * @param names replacements for texts that differ in each run
 * @param leasesMs the possible expiries; a remaining time is written as its original expiry
 */
export async function stepOf(
  title: string,
  monitor: Monitor,
  server: RedisServer,
  names: Names,
  leasesMs: readonly number[],
): Promise<Step> {
  const taken = await monitor.take()
  const say = (text: string) => renamed(text, names)
  return {
    title,
    commands: taken.map(({ inScript, args }) => {
      const [command = '', ...rest] = args
      const quoted = rest.map((arg) => (/^\S+$/.test(arg) ? say(arg) : JSON.stringify(say(arg))))
      return `${inScript ? '  ' : ''}${[command.toUpperCase(), ...quoted].join(' ')}`
    }),
    leaves: await keysOf(server, say, leasesMs),
    tells: taken
      .filter(({ args }) => args[0]?.toLowerCase() === 'publish')
      .map(({ args }) => say(args.slice(1).join(' '))),
  }
}

async function keysOf(
  { admin }: RedisServer,
  say: (text: string) => string,
  leasesMs: readonly number[],
): Promise<string[]> {
  const keys = await lastingKeys(admin)
  const lines = keys.map(async (key) => {
    const type = await admin.type(key)
    const content =
      type === 'hash' ? Object.entries(await admin.hgetall(key)).flat() : [await admin.get(key)]
    const left = await admin.pttl(key)
    const lease = type === 'hash' && leasesMs.find((ms) => left <= ms && left > ms / 2)
    const expiry = left < 0 ? 'no expiry' : `PX ${lease || '<between 15 and 20 s>'}`
    return say(`${key} ${type} ${content.join(' ')} ${expiry}`)
  })
  return (await Promise.all(lines)).sort()
}

function renamed(text: string, names: Names): string {
  let result = text
  for (const [one, name] of names) result = result.replaceAll(one, name)
  return result
    .replace(/(redisson_unlock_latch:\S*:)[0-9a-f]{32}\b/, '$1<request>')
    .replace(/^(1[5-9]|20)\d{3}$/, '<between 15 and 20 s>')
}

/** Returns the text of a fixture. */
export function written(head: string, steps: readonly Step[]): string {
  const parts = steps.map(({ title, commands, leaves, tells }) =>
    [
      `== ${title}`,
      ...commands,
      ...leaves.map((line) => `leaves ${line}`),
      ...tells.map((line) => `tells ${line}`),
    ].join('\n'),
  )
  return `${head}\n\n${parts.join('\n\n')}\n`
}

/** Returns the steps of a fixture, by title. */
export function read(text: string): Map<string, Step> {
  const [, ...parts] = text.split(/^== /m)
  const steps = parts.map((part): Step => {
    const [title = '', ...lines] = part.trim().split('\n')
    const of = (word: string) =>
      lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
    return {
      title,
      commands: lines.filter((line) => !/^(leaves|tells) /.test(line)),
      leaves: of('leaves'),
      tells: of('tells'),
    }
  })
  return new Map(steps.map((step) => [step.title, step]))
}
