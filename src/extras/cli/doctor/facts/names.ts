import type { Names, ServerFacts } from './facts.ts'
import { answerOf } from './facts.ts'

/** Lines of `name:value`, as `INFO` and `CLUSTER INFO` have them. */
export function namesOf(text: unknown): Names {
  const lines = String(text).matchAll(/^([^#:\r\n]+):(.*?)\r?$/gm)
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]))
}

/** A list in which each value follows its name, as `CONFIG GET` and `SENTINEL MASTER` have it. */
export function pairsOf(list: unknown): Names {
  const flat = (Array.isArray(list) ? list : []).map(String)
  return Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]]] : [])))
}

/** Where a Sentinel says that the master is. */
export function placeOf({ ip, port }: Names): string {
  return `${ip}:${port}`
}

/** One line of `INFO`; undefined where the server does not tell. */
export function infoOf({ info }: ServerFacts, name: string): string | undefined {
  return answerOf(info)?.[name]
}

/** One setting; undefined where the server does not tell. */
export function configOf({ config }: ServerFacts, name: string): string | undefined {
  return answerOf(config)?.[name]
}

/** The same as a number; undefined also where it is none. */
export function numberOf(text: string | undefined): number | undefined {
  const number = Number(text)
  return text === undefined || text === '' || Number.isNaN(number) ? undefined : number
}

interface Version {
  readonly name: 'Redis' | 'Valkey'
  readonly text: string
  readonly major: number
  readonly minor: number
}

/** Which server it is. Valkey tells 7.2.4 as the version of the Redis that it is like. */
export function versionOf(server: ServerFacts): Version | undefined {
  const valkey = infoOf(server, 'valkey_version')
  const text = valkey ?? infoOf(server, 'redis_version')
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(text ?? '') ?? []
  if (text === undefined || major === undefined) return undefined
  const name = valkey === undefined ? 'Redis' : 'Valkey'
  return { name, text, major: Number(major), minor: Number(minor) }
}

/** Whether it is one that holds locks now, and answers. */
export function isMaster(server: ServerFacts): boolean {
  return server.unreachable === undefined && infoOf(server, 'role') !== 'slave'
}

interface ReplicaLine {
  readonly address: string
  readonly state: string
  readonly lagSeconds: number
}

/** The replicas of a master, as it sees them. */
export function replicasOf({ info }: ServerFacts): ReplicaLine[] {
  return Object.entries(answerOf(info) ?? {}).flatMap(([name, line]) => {
    if (!/^slave\d+$/.test(name) || line === undefined) return []
    const part = (one: string) => new RegExp(`(?:^|,)${one}=([^,]*)`).exec(line)?.[1] ?? ''
    const address = `${part('ip')}:${part('port')}`
    return [{ address, state: part('state'), lagSeconds: Number(part('lag')) }]
  })
}
