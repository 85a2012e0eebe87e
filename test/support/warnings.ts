interface Caught {
  readonly message: string
  readonly code: string
  /** By `performance.now()`. */
  readonly atMs: number
}

/** Tests use leases, and times for outages, that are shorter than those of any service should be. */
const EXPECTED = ['HOLDFAST_SHORT_LEASE', 'HOLDFAST_ONE_TRY']

/**
 * The warnings of the process in the running test, which are not printed. Call it where tests are described.
 *
 * @param isAll also those that tests cause everywhere
 */
export function catchWarnings(isAll = false): readonly Caught[] {
  const warnings: Caught[] = []
  beforeEach(() => {
    warnings.splice(0)
    jest.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
      const { code } = options as { code: string }
      if (EXPECTED.includes(code) && !isAll) return
      warnings.push({ message: String(message), code, atMs: performance.now() })
    })
  })
  afterEach(() => jest.restoreAllMocks())
  return warnings
}

/** From now on those warnings are not printed that tests cause everywhere. */
export function silenceExpectedWarnings(): void {
  const emit = process.emitWarning.bind(process) as (...args: unknown[]) => void
  process.emitWarning = (...args: unknown[]) => {
    const { code = '' } = Object(args[1]) as { code?: string }
    if (!EXPECTED.includes(code)) emit(...args)
  }
}
