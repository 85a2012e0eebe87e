import type { Clock } from '../../kit/clock.ts'
import { warn } from '../../kit/warning.ts'
import type { HoldKind } from '../../lease/hold-kind.ts'
import { innermostFrame, isInside } from '../../owner/frames.ts'
import type { Owner } from '../../owner/owner.ts'

/** One lock object that holds and waits, or one frame around both, is hardly anything but nested code. */
const SURE_MS = 500

/** Two lock objects of one client are mostly those of separate tasks. */
const UNSURE_MS = 3_000

/** So many names of one client are warned of at most where it is not sure. */
const MOST_NAMES = 100

const warned = new WeakSet<object>()
const warnedNames = new WeakMap<object, Set<string>>()

/** What of a lock object tells whether it waits for itself. */
interface LockObject {
  readonly name: string
  readonly rawName: string
  readonly kind: HoldKind
  /** Its number, or that of what it is a side of. */
  readonly number: number
  readonly registry: {
    readonly clock: Clock
    newOwner(): Owner
    find(rawName: string): LocalLock | undefined
  }
}

interface LocalLock {
  holder(kind: HoldKind, isMeant: (owner: Owner) => boolean): Owner | undefined
  isHeldBy(owner: Owner): boolean
}

/** Who seems to wait for itself. */
interface SelfWait {
  readonly lock: LockObject
  readonly holder: Owner
  /** In words: the holder, and tasks for which waiting is right. */
  readonly who: readonly [holding: string, sharing: string]
  readonly afterMs: number
  /** Warned about once: a lock object, or a frame; undefined where that is the name in this client. */
  readonly about: object | undefined
}

/** An owner for one acquisition by that lock object, which is nobody else's. */
export function alone(lock: LockObject): Owner {
  const owner = lock.registry.newOwner()
  owner.madeBy = lock.number
  owner.madeIn = innermostFrame()
  return owner
}

/**
 * Whether an acquisition that is about to begin seems to wait for itself: somebody in this client has the
 * lock by now whom it does not re-enter.
 *
 * @param about the lock object that was called, this one or that of several, if it acts for an owner of
 * its own
 */
export function selfWaitOf(lock: LockObject, about?: object): SelfWait | undefined {
  const held = lock.registry.find(lock.rawName)
  if (held === undefined) return undefined
  return ownSelfWait(lock, held, about) ?? selfWaitInFrame(lock, held) ?? inClient(lock, held)
}

/** Whether the lock object that is about to wait has its lock. */
function ownSelfWait(lock: LockObject, held: LocalLock, about?: object): SelfWait | undefined {
  if (about === undefined) return undefined
  const isMeant = (owner: Owner) => owner.madeBy === lock.number && isComplete(owner, lock)
  const holder = held.holder(lock.kind, isMeant)
  if (holder === undefined) return undefined
  const who = ['the same lock object holds the lock', 'share the object'] as const
  return { lock, holder, who, afterMs: SURE_MS, about }
}

/** Whether an owner of one acquisition, made in a frame that is around here too, has the lock. */
function selfWaitInFrame(lock: LockObject, held: LocalLock): SelfWait | undefined {
  if (innermostFrame() === undefined) return undefined
  const isMeant = ({ madeIn }: Owner) => madeIn !== undefined && isInside(madeIn)
  const holder = held.holder(lock.kind, isMeant)
  if (holder === undefined) return undefined
  const who = [
    'code in the same frame of using() or run() holds the lock',
    'share the frame',
  ] as const
  return { lock, holder, who, afterMs: SURE_MS, about: holder.madeIn }
}

/** Whether an owner of one acquisition that was made outside all frames has the lock: code in one is not nested in it. */
function inClient(lock: LockObject, held: LocalLock): SelfWait | undefined {
  if (isKnown(lock)) return undefined
  const isMeant = (owner: Owner) =>
    owner.madeBy !== undefined && owner.madeIn === undefined && isComplete(owner, lock)
  const holder = held.holder(lock.kind, isMeant)
  if (holder === undefined) return undefined
  const who = [
    'code of the same client has held the lock all that time, by a lock() outside any frame (`await using` opens no frame)',
    'share the client',
  ] as const
  return { lock, holder, who, afterMs: UNSURE_MS, about: undefined }
}

/** One that is taken together with others may yet be let go for want of them. */
function isComplete(owner: Owner, { rawName }: LockObject): boolean {
  return !owner.isGathering(rawName)
}

function isKnown({ registry, rawName }: LockObject): boolean {
  const names = warnedNames.get(registry)
  return names !== undefined && (names.has(rawName) || names.size >= MOST_NAMES)
}

function markKnown({ registry, rawName }: LockObject): void {
  const names = warnedNames.get(registry)
  if (names === undefined) warnedNames.set(registry, new Set([rawName]))
  else if (names.size < MOST_NAMES) names.add(rawName)
}

/** Warns of a self-wait where there seems to be one. */
export function warningOf<T>(selfWait: SelfWait | undefined, acquiring: Promise<T>): Promise<T> {
  return selfWait === undefined ? acquiring : warnOfSelfWait(selfWait, acquiring)
}

/**
 * Warns once when an acquisition waits all the while for one hold of the same lock object, frame or client
 * that it does not re-enter: nested code would wait for ever.
 */
async function warnOfSelfWait<T>(
  { lock, holder, who: [holding, sharing], afterMs, about }: SelfWait,
  acquiring: Promise<T>,
): Promise<T> {
  const { clock } = lock.registry
  const warnOnce = () => {
    const isNew = about === undefined ? !isKnown(lock) : !warned.has(about)
    if (!isNew || lock.registry.find(lock.rawName)?.isHeldBy(holder) !== true) return
    if (about !== undefined) warned.add(about)
    markKnown(lock)
    warn(
      'HOLDFAST_SELF_WAIT',
      `Lock "${lock.name}": a call has waited for ${afterMs} ms, and ${holding}. If the call is nested in the code ` +
        'that holds the lock, it waits for itself. Then run the outer code in lock.using(fn) of this lock (using() ' +
        'of another lock does not help) or in holdfast.run(fn). Or give both the same owner: getLock(name, { owner: ' +
        `holdfast.owner() }). If they are separate tasks that ${sharing}, ignore this warning.`,
    )
  }
  const timer = clock.after(afterMs, warnOnce).unref()
  try {
    return await acquiring
  } finally {
    clock.clear(timer)
  }
}
