interface Caught {
  readonly message: string
  readonly code: string
  /** The time by `performance.now()`. */
  readonly atMs: number
}

/** Tests use shorter leases and outage times than services should, so any test may cause these warnings. */
const OF_SHORT_TIMES = ['HOLDFAST_SHORT_LEASE', 'HOLDFAST_ONE_TRY']

/**
 * In a test, several tasks share a lock object, or the time of a server in memory stands still. The machine decides how
 * long such tasks wait, and so whether Holdfast warns.
 */
const OF_LONG_WAITS = ['HOLDFAST_SELF_WAIT', 'HOLDFAST_VIRTUAL_TIME']

/** Warnings that any test may cause. They are printed only if the test fails. */
const EXPECTED = [...OF_SHORT_TIMES, ...OF_LONG_WAITS]

/** For the running test: the expected codes, and the unexpected warnings, which make the test fail. */
let declared: string[] = []
let unexpected: string[] = []
/** Expected warnings. If the test fails, `environment.ts` prints them. */
const held: string[] = []
Object.assign(globalThis, { [Symbol.for('holdfast.warnings')]: held })

/**
 * Catches the warnings of the process in the running test. They are not printed. Call it inside a `describe` or at the
 * top of a file.
 *
 * @param isAll true to catch also warnings about short times, which any test may cause
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
 * enough, because `watchWarnings` suppresses the warnings of Holdfast.
 *
 * @returns a function that ends the calls
 */
export function hearWarnings(listener: (...args: unknown[]) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** From now on, warnings of Holdfast are not printed. They are recorded for `failOnWarnings`. */
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

/** @throws {Error} if the ending test caused an unexpected warning */
export function failOnWarnings(): void {
  const found = unexpected
  unexpected = []
  if (found.length === 0) return
  const list = found.map((warning) => `  - ${warning}`).join('\n')
  throw new Error(
    `The test caused warnings. If they are expected, call expectWarnings(code) or catchWarnings():\n${list}`,
  )
}
