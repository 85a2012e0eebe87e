interface Caught {
  readonly message: string
  readonly code: string
  /** By `performance.now()`. */
  readonly atMs: number
}

/** The warnings of the process in the running test, which are not printed. Call it where tests are described. */
export function catchWarnings(): readonly Caught[] {
  const warnings: Caught[] = []
  beforeEach(() => {
    warnings.splice(0)
    jest.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
      const { code } = options as { code: string }
      warnings.push({ message: String(message), code, atMs: performance.now() })
    })
  })
  afterEach(() => jest.restoreAllMocks())
  return warnings
}
