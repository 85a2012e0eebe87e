/**
 * Each resource that the test support opens belongs to the running test, or to the test file if no test runs. The
 * resource ends with its owner, even if the test fails.
 */
type End = () => unknown

interface Owned {
  end: End
  /**
   * True if the resource ends before the leak check, as a child process must. Servers end later, because the leak check
   * sends commands to them.
   */
  beforeCheck: boolean
}

const ownedByFile = new Set<Owned>()
const ownedByTest = new Set<Owned>()
let inTest = false

/**
 * Calls `end` at the end of the running test, or at the end of the file if no test runs. Returns a function that
 * cancels this.
 */
export function atEnd(end: End, { beforeCheck = false } = {}): () => void {
  const owned = { end, beforeCheck }
  const owner = inTest ? ownedByTest : ownedByFile
  owner.add(owned)
  return () => owner.delete(owned)
}

export function beginTest(): void {
  inTest = true
}

/** First part of the end of a test: ends what must not exist during the leak check. */
export async function endBeforeCheck(): Promise<void> {
  await endAll(ownedByTest, (owned) => owned.beforeCheck)
}

/** Second part of the end of a test: ends everything else. */
export async function endTest(): Promise<void> {
  inTest = false
  await endAll(ownedByTest, () => true)
}

/** Marks a hook that has to run after all others of its kind; see environment.ts. */
export function last<Hook extends () => unknown>(hook: Hook): Hook {
  return Object.assign(hook, { [Symbol.for('holdfast.last')]: true })
}

/** Ends the newest resources first. If one end fails, the others still end. */
async function endAll(owner: Set<Owned>, which: (owned: Owned) => boolean): Promise<void> {
  const errors: unknown[] = []
  for (const owned of [...owner].reverse()) {
    if (!which(owned)) continue
    owner.delete(owned)
    try {
      await owned.end()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, 'Several things failed to end')
}

afterAll(
  last(async () => {
    inTest = false
    await endAll(ownedByTest, () => true)
    await endAll(ownedByFile, () => true)
  }),
  20_000,
)
