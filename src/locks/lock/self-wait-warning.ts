import type { Clock } from '../../kit/clock.ts'
import { warn } from '../../kit/warning.ts'
import type { HoldKind } from '../../lease/hold-kind.ts'
import { innermostFrame, isInside } from '../../owner/frames.ts'
import type { Owner } from '../../owner/owner.ts'

/**
 * The delay of the warning, in milliseconds, if the same lock object, or code in a frame around the waiting call,
 * acquired the lock. Then the call almost certainly waits for its own caller.
 */
const SURE_MS = 500

/**
 * The delay of the warning, in milliseconds, if another call acquired the lock outside all frames.
 * Usually the two calls belong to separate tasks.
 */
const UNSURE_MS = 3_000

/**
 * After warnings about this many lock names, the client no longer warns about holds that another
 * lock object acquired outside all frames.
 */
const MOST_NAMES = 100

const warned = new WeakSet<object>()
const warnedNames = new WeakMap<object, Set<string>>()

/** The members of a lock object that the check for self-waits needs. */
interface WaitingLock {
  readonly name: string
  readonly rawName: string
  readonly kind: HoldKind
  /**
   * A number that identifies the lock object. All sides of one read-write lock have the same
   * number.
   */
  readonly number: number
  readonly registry: {
    readonly clock: Clock
    newOwner(): Owner
    find(rawName: string): OwnedLock | undefined
  }
}

interface OwnedLock {
  holder(kind: HoldKind, isMeant: (owner: Owner) => boolean): Owner | undefined
  isHeldBy(owner: Owner): boolean
}

/** A call that seems to wait for a hold of the code around the call. */
interface SelfWait {
  readonly lock: WaitingLock
  readonly holder: Owner
  /**
   * Two parts of the warning's text: `holding` says which code holds the lock. `sharing` says what
   * separate tasks would share.
   */
  readonly who: readonly [holding: string, sharing: string]
  readonly afterMs: number
  /**
   * The client warns about this lock object or frame at most once. If undefined, the client warns
   * about each lock name at most once.
   */
  readonly about: object | undefined
}

/**
 * Makes a new owner for one acquisition by this lock object. For warnings, the owner records the
 * lock object and the innermost frame.
 */
export function alone(lock: WaitingLock): Owner {
  const owner = lock.registry.newOwner()
  owner.madeBy = lock.number
  owner.madeIn = innermostFrame()
  return owner
}

/**
 * Returns a self-wait if the next acquisition by `lock` must wait for a hold that code around the call
 * has probably acquired. Otherwise returns undefined.
 *
 * @param about the lock or multi-lock on which the user called the method. Undefined if the owner
 * of the acquisition existed before the call
 */
export function selfWaitOf(lock: WaitingLock, about?: object): SelfWait | undefined {
  const held = lock.registry.find(lock.rawName)
  if (held === undefined) return undefined
  return ownSelfWait(lock, held, about) ?? selfWaitInFrame(lock, held) ?? inClient(lock, held)
}

/** Returns a self-wait if the lock object that is about to wait already holds the lock. */
function ownSelfWait(lock: WaitingLock, held: OwnedLock, about?: object): SelfWait | undefined {
  if (about === undefined) return undefined
  const isMeant = (owner: Owner) => owner.madeBy === lock.number && isComplete(owner, lock)
  const holder = held.holder(lock.kind, isMeant)
  if (holder === undefined) return undefined
  const who = ['the same lock object holds the lock', 'share the object'] as const
  return { lock, holder, who, afterMs: SURE_MS, about }
}

/** Returns a self-wait if the owner of the hold was made in a frame around the running code. */
function selfWaitInFrame(lock: WaitingLock, held: OwnedLock): SelfWait | undefined {
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

/**
 * Returns a self-wait if the owner of the hold was made outside all frames. Returns undefined if the
 * client does not warn about this lock name any more. An owner from inside a frame does not count,
 * because the running code is not nested in that frame.
 */
function inClient(lock: WaitingLock, held: OwnedLock): SelfWait | undefined {
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

/**
 * False while a multi-lock of this owner still acquires its locks. Meanwhile the multi-lock may
 * release this lock by itself.
 */
function isComplete(owner: Owner, { rawName }: WaitingLock): boolean {
  return !owner.isGathering(rawName)
}

function isKnown({ registry, rawName }: WaitingLock): boolean {
  const names = warnedNames.get(registry)
  return names !== undefined && (names.has(rawName) || names.size >= MOST_NAMES)
}

function markKnown({ registry, rawName }: WaitingLock): void {
  const names = warnedNames.get(registry)
  if (names === undefined) warnedNames.set(registry, new Set([rawName]))
  else if (names.size < MOST_NAMES) names.add(rawName)
}

export function warningOf<T>(selfWait: SelfWait | undefined, acquiring: Promise<T>): Promise<T> {
  return selfWait === undefined ? acquiring : warnOfSelfWait(selfWait, acquiring)
}

/**
 * Warns if `acquiring` is still pending after `afterMs` and `holder` still holds the lock. The client
 * warns once about the same object, frame or lock name.
 */
function warnOfSelfWait<T>(
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
  return acquiring.then(
    (taken) => {
      clock.clear(timer)
      return taken
    },
    (error) => {
      clock.clear(timer)
      throw error
    },
  )
}
