/** How a web lock is held: `exclusive` like a write lock, or `shared` like a read lock. */
export type WebLockMode = 'exclusive' | 'shared'

/** The lock that a callback receives. The callback holds the lock until its promise settles. */
export interface WebLock {
  readonly name: string
  readonly mode: WebLockMode
}

/** The options of `locks.request`. */
export interface WebLockOptions {
  /** @default 'exclusive' */
  mode?: WebLockMode
  /**
   * If true, the call does not wait: if the lock is not available, the callback receives null.
   *
   * @default false
   */
  ifAvailable?: boolean
  /**
   * If true, all holders lose the lock, and the call gets it. Only for `exclusive`. The calls of the old holders reject
   * with an `AbortError` as soon as their clients notice the loss, and their callbacks continue to run. Calls
   * that wait at the same time can get the lock in between, and then lose it too.
   *
   * @default false
   */
  steal?: boolean
  /** Ends the wait: the call rejects with `signal.reason`. */
  signal?: AbortSignal
}

/** One call of `locks.request`, with checked values. */
export interface WebLockRequest<T> {
  readonly name: string
  readonly mode: WebLockMode
  readonly ifAvailable: boolean
  readonly steal: boolean
  readonly signal: AbortSignal | undefined
  readonly work: (lock: WebLock | null) => T
}

/**
 * Checks the arguments of `locks.request` as a browser does.
 *
 * @throws `TypeError` and `DOMException` as in the specification
 * @see https://w3c.github.io/web-locks/#api-lock-manager-request
 */
export function webLockRequest<T>(
  name: string,
  optionsOrWork: unknown,
  workIfOptions: unknown,
): WebLockRequest<T> {
  const hasOptions = workIfOptions !== undefined
  const work = hasOptions ? workIfOptions : optionsOrWork
  if (typeof work !== 'function') throw new TypeError('The callback must be a function.')
  const options = readOptions(hasOptions ? optionsOrWork : {})
  const { mode = 'exclusive', signal } = options
  if (mode !== 'exclusive' && mode !== 'shared') {
    throw new TypeError(`The mode must be 'exclusive' or 'shared'; got ${String(mode)}.`)
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('The signal must be an AbortSignal.')
  }
  const request = {
    name: String(name),
    mode,
    ifAvailable: Boolean(options.ifAvailable),
    steal: Boolean(options.steal),
    signal,
    work: work as (lock: WebLock | null) => T,
  }
  const { ifAvailable, steal } = request
  refuseIf(request.name.startsWith('-'), 'The name of a web lock must not begin with "-".')
  refuseIf(ifAvailable && steal, '`ifAvailable` and `steal` exclude each other.')
  refuseIf(steal && mode !== 'exclusive', '`steal` needs the mode `exclusive`.')
  refuseIf(
    signal !== undefined && (ifAvailable || steal),
    '`signal` cannot be combined with `ifAvailable` or `steal`, because such a call does not wait.',
  )
  return request
}

/** Reads the options. Like a browser, ignores unknown options, and reads null as no options. */
function readOptions(options: unknown): WebLockOptions {
  if (!['object', 'function', 'undefined'].includes(typeof options)) {
    throw new TypeError('The options must be an object.')
  }
  return options ?? {}
}

function refuseIf(isWrong: boolean, text: string): void {
  if (isWrong) throw new DOMException(text, 'NotSupportedError')
}
