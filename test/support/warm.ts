import type { Holdfast } from '../../src/index.ts'
import { eventually } from './eventually.ts'
import { granted } from './fault-rig.ts'

/**
 * Connects a client: the client acquires and releases a lock. On a busy machine, the first connection may take longer
 * than a short `outageMs`. So a failed call is repeated.
 */
export async function warm(client: Holdfast): Promise<void> {
  await eventually(async () => granted(await client.getLock('warm').tryLock()).release(), {
    message: 'a client to connect',
  })
}
