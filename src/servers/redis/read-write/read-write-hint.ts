import { type Hint, MISSED, TURN_OF_READERS } from '../../hint.ts'

/** Redisson sends `0` and `1` to all waiters. Holdfast sends `00` and `01`, and then other hints. */
const HINTS = new Map<string, Hint>([
  ['0', { kind: 'released', by: 'reader', isForAll: true }],
  ['1', { kind: 'released', by: 'writer', isForAll: true }],
  ['00', { kind: 'released', by: 'reader', isForAll: false }],
  ['01', { kind: 'released', by: 'writer', isForAll: false }],
  ['2', TURN_OF_READERS],
])

/** Returns the hint in a message on the channel of a read-write lock. */
export function readWriteHint(message?: string): Hint {
  if (message === undefined) return MISSED
  return HINTS.get(message) ?? { kind: 'turn', of: message }
}
