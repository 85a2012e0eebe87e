interface Caught {
  readonly message: string
  readonly code: string
  /** By `performance.now()`. */
  readonly atMs: number
}

/** Tests use leases that are shorter than any service should. */
const EXPECTED = 'HOLDFAST_SHORT_LEASE'

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
      if (code === EXPECTED && !isAll) return
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
    if ((args[1] as { code?: string } | undefined)?.code !== EXPECTED) emit(...args)
  }
}
