import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AcquireFact, Holdfast, Notes } from '../../src/index.ts'

/** Returns the notes of a client, which its facts contain. For this, the client acquires a lock. */
export async function notesOf(client: Holdfast): Promise<Notes> {
  let notes: Notes | undefined
  const hear = (fact: unknown) => {
    const { client: id, notes: found } = fact as AcquireFact
    if (id === client.id) notes = found
  }
  subscribe('tracing:holdfast:acquire:start', hear)
  await client.getLock(`it of ${client.id}`).using(() => {})
  unsubscribe('tracing:holdfast:acquire:start', hear)
  if (notes === undefined) throw new Error('The facts of this client have no notes')
  return notes
}
