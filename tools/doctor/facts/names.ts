import type { Names, ServerFacts } from './facts.ts'
import { answerOf } from './facts.ts'

/** Reads lines of `name:value`, as in `INFO` and `CLUSTER INFO`. */
export function namesOf(text: unknown): Names {
  const lines = String(text).matchAll(/^([^#:\r\n]+):(.*?)\r?$/gm)
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]))
}

/**
 * Reads a flat list in which each value follows its name, such as the reply of `CONFIG GET` or
 * `SENTINEL MASTER`.
 */
export function pairsOf(list: unknown): Names {
  const flat = (Array.isArray(list) ? list : []).map(String)
  return Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]]] : [])))
}

/** Returns the address of the master that a Sentinel names. */
export function hostAndPort({ ip, port }: Names): string {
  return `${ip}:${port}`
}

export function infoOf({ info }: ServerFacts, name: string): string | undefined {
  return answerOf(info)?.[name]
}

export function configOf({ config }: ServerFacts, name: string): string | undefined {
  return answerOf(config)?.[name]
}

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

/**
 * Returns the name and version of the server. For compatibility, Valkey reports 7.2.4 as
 * `redis_version`, so `valkey_version` is preferred. Undefined if the version is unknown.
 */
export function versionOf(server: ServerFacts): Version | undefined {
  const valkey = infoOf(server, 'valkey_version')
  const text = valkey ?? infoOf(server, 'redis_version')
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(text ?? '') ?? []
  if (text === undefined || major === undefined) return undefined
  const name = valkey === undefined ? 'Redis' : 'Valkey'
  return { name, text, major: Number(major), minor: Number(minor) }
}

/** True if the server was reached and is not known to be a replica. */
export function isMaster(server: ServerFacts): boolean {
  return server.unreachable === undefined && infoOf(server, 'role') !== 'slave'
}

interface ReplicaLine {
  readonly address: string
  readonly state: string
  readonly lagSeconds: number
}

/** Returns the replicas that the server reports. Empty if `INFO` is unknown. */
export function replicasOf({ info }: ServerFacts): ReplicaLine[] {
  return Object.entries(answerOf(info) ?? {}).flatMap(([name, line]) => {
    if (!/^slave\d+$/.test(name) || line === undefined) return []
    const part = (one: string) => new RegExp(`(?:^|,)${one}=([^,]*)`).exec(line)?.[1] ?? ''
    const address = `${part('ip')}:${part('port')}`
    return [{ address, state: part('state'), lagSeconds: Number(part('lag')) }]
  })
}
