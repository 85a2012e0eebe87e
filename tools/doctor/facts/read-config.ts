import type { ServerClient } from '../../servers/open-server.ts'
import { type Fact, factOf, type Names } from './facts.ts'
import { pairsOf } from './names.ts'

const SETTINGS = [
  'appendfsync',
  'client-output-buffer-limit',
  'cluster-require-full-coverage',
  'maxmemory',
  'maxmemory-policy',
  'min-replicas-max-lag',
  'min-replicas-to-write',
  'no-appendfsync-on-rewrite',
  'notify-keyspace-events',
  'replica-serve-stale-data',
  'save',
  'timeout',
]

/**
 * Sends a request for each setting, because hosted services refuse some settings. The result lacks
 * the refused settings. If the server refuses all settings, the result is the first refusal.
 */
export async function readConfig(client: ServerClient): Promise<Fact<Names>> {
  const facts = await Promise.all(
    SETTINGS.map((name) => factOf(async () => pairsOf(await client.send('CONFIG', 'GET', name)))),
  )
  const known = facts.flatMap((fact) => ('value' in fact ? [fact.value] : []))
  const [first] = facts
  if (known.length === 0 && first !== undefined && 'unknown' in first) return first
  return { value: Object.assign({}, ...known) as Names }
}
