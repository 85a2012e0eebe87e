import type { HoldKind } from '../../lease/hold-kind.ts'
import { innermostFrame, isInside } from '../../owner/frames.ts'
import type { Owner } from '../../owner/owner.ts'

const AFTER_MS = 500

const warned = new WeakSet<object>()

/** What of a lock object tells whether it waits for itself. */
interface LockObject {
  readonly name: string
  readonly rawName: string
  readonly kind: HoldKind
  /** What it is a part of, or itself. */
  readonly whole: object
  readonly registry: {
    newOwner(): Owner
    find(rawName: string):
      | {
          holder(kind: HoldKind, isMeant: (owner: Owner) => boolean): Owner | undefined
          isHeldBy(owner: Owner): boolean
        }
      | undefined
  }
}

/** Who seems to wait for itself. */
interface SelfWait {
  readonly lockName: string
  /** Warned about once: a lock object, or a frame. */
  readonly about: object
  readonly who: string
  /** Whether what is waited for is still held as it was at first. */
  isHeld(): boolean
}

/** An owner for one acquisition by that lock object, which is nobody else's. */
export function alone(lock: LockObject): Owner {
  const owner = lock.registry.newOwner()
  owner.madeBy = lock.whole
  owner.madeIn = innermostFrame()
  return owner
}

/**
 * Whether a lock object that is about to wait, for such an owner, has its lock.
 *
 * @param about the lock object that was called: this one, or that of several
 */
export function ownSelfWait(lock: LockObject, about: object): SelfWait | undefined {
  const { name, rawName, registry, kind, whole } = lock
  // One that is taken together with others may yet be let go for want of them.
  const isMeant = (owner: Owner) => owner.madeBy === whole && !owner.isGathering(rawName)
  const holder = registry.find(rawName)?.holder(kind, isMeant)
  if (holder === undefined) return undefined
  return {
    lockName: name,
    about,
    who: 'the lock object that holds it. Tasks that share the object',
    isHeld: () => registry.find(rawName)?.isHeldBy(holder) === true,
  }
}

/** Whether such an owner, made in a frame that is around here too, has this lock. */
export function selfWaitInFrame({
  name,
  rawName,
  registry,
  kind,
}: LockObject): SelfWait | undefined {
  if (innermostFrame() === undefined) return undefined
  const isMeant = ({ madeIn }: Owner) => madeIn !== undefined && isInside(madeIn)
  const holder = registry.find(rawName)?.holder(kind, isMeant)
  if (holder?.madeIn === undefined) return undefined
  return {
    lockName: name,
    about: holder.madeIn,
    who: 'code in the same frame of using() or run() as the code that holds it. Tasks in one frame',
    isHeld: () => registry.find(rawName)?.isHeldBy(holder) === true,
  }
}

/** Warns of a self-wait where there seems to be one. */
export function warningOf<T>(selfWait: SelfWait | undefined, acquiring: Promise<T>): Promise<T> {
  return selfWait === undefined ? acquiring : warnOfSelfWait(selfWait, acquiring)
}

/**
 * Warns once when an acquisition waits all the while for a lease of the same lock object, or of the
 * same frame, that it does not re-enter: nested code would wait for ever.
 */
async function warnOfSelfWait<T>(
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
