import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis'
import { InvalidArgumentError } from '../../../errors.ts'
import { withoutFullStop } from '../../../kit/without-full-stop.ts'
import { newCluster } from '../connection/given-source.ts'
import { isClient, isCluster, type RedisSource } from '../connection/open-client.ts'

/**
 * The address and options of Redis in a form that can be copied to a worker thread, without clients
 * and functions.
 */
export type PlainSource =
  | string
  | RedisOptions
  | { readonly nodes: ClusterNode[]; readonly options: ClusterOptions }

/** @throws `InvalidArgumentError` if a needed option cannot be copied */
export function plainSource(source: RedisSource): PlainSource {
  if (typeof source === 'string') return source
  if (!isClient(source)) return plain(source)
  if (!isCluster(source)) return plain(source.options)
  const { startupNodes } = source as unknown as { startupNodes: ClusterNode[] }
  return { nodes: startupNodes, options: plain(source.options) }
}

/** Converts the copy back to a source, in the worker thread. */
export function sourceOf(source: PlainSource): RedisSource {
  if (typeof source === 'string' || !('nodes' in source)) return source
  return newCluster(source.nodes, { ...source.options, lazyConnect: true })
}

function plain<T>(options: T): T {
  const copy = withoutFunctions(options) as T
  try {
    return structuredClone(copy)
  } catch (error) {
    throw new InvalidArgumentError(
      `\`watchdogThread\` needs \`redis\` options that can be copied to a thread: ${withoutFullStop((error as Error).message)}. ` +
        'Give `redis` as a URL or as plain options.',
    )
  }
}

/**
 * Removes functions, because they cannot be copied to a thread. The connections of Holdfast set
 * most of these functions themselves.
 */
function withoutFunctions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFunctions)
  if (value === null || typeof value !== 'object') return value
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).filter(([, one]) => typeof one !== 'function')
  return Object.fromEntries(entries.map(([name, one]) => [name, withoutFunctions(one)]))
}
