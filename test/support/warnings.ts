interface Caught {
  readonly message: string
  readonly code: string
  /** By `performance.now()`. */
  readonly atMs: number
}

/** Tests use leases, and times for outages, that are shorter than those of any service should be. */
const OF_SHORT_TIMES = ['HOLDFAST_SHORT_LEASE', 'HOLDFAST_ONE_TRY']

/**
 * Tasks of a test share a lock object, and let the time of a server in memory stand still. How long they wait, and so
 * whether Holdfast warns, depends on the machine.
 */
const OF_LONG_WAITS = ['HOLDFAST_SELF_WAIT', 'HOLDFAST_VIRTUAL_TIME']

/** Warnings that any test may cause. They are printed only if the test fails. */
const EXPECTED = [...OF_SHORT_TIMES, ...OF_LONG_WAITS]

/** Of the running test: codes that it expects, warnings that failed it, and those that are printed if it fails. */
let declared: string[] = []
let unexpected: string[] = []
/** The environment prints them: it knows whether the test failed. */
const held: string[] = []
Object.assign(globalThis, { [Symbol.for('holdfast.warnings')]: held })

/**
 * The warnings of the process in the running test, which are not printed. Call it where tests are described.
 *
 * @param isAll also those of short times, which tests cause everywhere
 */
export function catchWarnings(isAll = false): readonly Caught[] {
  const warnings: Caught[] = []
  beforeEach(() => {
    warnings.splice(0)
    jest.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
      const { code } = options as { code: string }
      if (OF_SHORT_TIMES.includes(code) && !isAll) return
      warnings.push({ message: String(message), code, atMs: performance.now() })
    })
  })
  afterEach(() => jest.restoreAllMocks())
  return warnings
}

/** The running test may cause warnings with these codes. They are not printed. */
export function expectWarnings(...codes: string[]): void {
  declared.push(...codes)
}

const listeners = new Set<(...args: unknown[]) => void>()

/**
 * Calls `listener` with the arguments of each `process.emitWarning()`. The event `warning` of the process is not
 * enough: `watchWarnings` emits no warning of Holdfast.
 *
 * @returns ends the calls
 */
export function hearWarnings(listener: (...args: unknown[]) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** From now on a warning of Holdfast is not printed: it is noted, for `failOnWarnings`. */
export function watchWarnings(): void {
  const emit = process.emitWarning.bind(process) as (...args: unknown[]) => void
  process.emitWarning = (...args: unknown[]) => {
    for (const listener of listeners) listener(...args)
    const { code = '' } = Object(args[1]) as { code?: string }
    if (!code.startsWith('HOLDFAST_')) emit(...args)
    else if (EXPECTED.includes(code) || declared.includes(code)) held.push(`[${code}] ${args[0]}`)
    else unexpected.push(`[${code}] ${args[0]}`)
  }
}

export function beginWarnings(): void {
  declared = []
  unexpected = []
  held.splice(0)
}

/** @throws {Error} if the test that ends has caused a warning that it does not expect */
export function failOnWarnings(): void {
  const found = unexpected
  unexpected = []
  if (found.length === 0) return
  const list = found.map((warning) => `  - ${warning}`).join('\n')
  throw new Error(
    `The test caused warnings. If they are expected, call expectWarnings(code) or catchWarnings():\n${list}`,
  )
}
