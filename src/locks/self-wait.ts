import { innermostFrame, isInside } from '../owner/frames.ts'
import type { Holder } from '../owner/holder.ts'
import type { Owner } from '../owner/owner.ts'
import type { Access } from './access.ts'
import type { Desk } from './desk.ts'
import type { Holdings, Kept } from './holdings.ts'

const AFTER_MS = 500

const warned = new WeakSet<object>()

/** Who seems to wait for itself. */
export interface SelfWait {
  readonly lockName: string
  /** Warned about once: a lock object, or a frame. */
  readonly about: object
  readonly who: string
  /** Whether what is waited for is still held as it was at first. */
  isHeld(): boolean
}

/** Whether the lock object that is about to wait for a lock holds it. */
export function ownSelfWait<L extends Kept>(
  lock: { readonly name: string },
  holdings: Holdings<L>,
  holder: Holder,
  rawName: string,
): SelfWait | undefined {
  const held = holdings.live(holder, rawName)
  return (
    held && {
      lockName: lock.name,
      about: lock,
      who: 'the lock object that holds it. Tasks that share the object',
      isHeld: () => held.live,
    }
  )
}

/** An owner for one acquisition, which is nobody else's. */
export function alone(desk: Desk): Owner {
  const owner = desk.newOwner()
  owner.madeIn = innermostFrame()
  return owner
}

/** Whether such an owner, made in a frame that is around here too, has one of these locks. */
export function selfWaitInFrame(wanted: readonly Access[]): SelfWait | undefined {
  if (innermostFrame() === undefined) return undefined
  for (const { name, rawName, desk } of wanted) {
    const holder = desk.find(rawName)?.holder
    if (holder?.madeIn === undefined || !isInside(holder.madeIn)) continue
    return {
      lockName: name,
      about: holder.madeIn,
      who: 'code in the same frame of using() or run() as the code that holds it. Tasks in one frame',
      isHeld: () => desk.find(rawName)?.holder === holder,
    }
  }
  return undefined
}

/**
 * Warns once when an acquisition waits all the while for a lease of the same lock object, or of the
 * same frame, that it does not re-enter: nested code would wait for ever.
 */
export async function warnOfSelfWait<T>(
  { lockName, about, who, isHeld }: SelfWait,
  acquiring: Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => {
    if (!isHeld() || warned.has(about)) return
    warned.add(about)
    process.emitWarning(
      `Lock "${lockName}" has been waited for during ${AFTER_MS} ms by ${who} exclude each other, ` +
        'and that is fine. If it is nested code, it waits for itself: put the outer code in ' +
        'lock.using(fn) of this very lock (that of another lock does not carry it) or in ' +
        'holdfast.run(fn), or give both the same owner: getLock(name, { owner: holdfast.owner() }).',
      { type: 'HoldfastWarning', code: 'HOLDFAST_SELF_WAIT' },
    )
  }, AFTER_MS).unref()
  try {
    return await acquiring
  } finally {
    clearTimeout(timer)
  }
}
