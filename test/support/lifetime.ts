/**
 * What the support opens has an owner: the test that opened it, or else the file.
 * When the owner ends, passed or failed, it ends too.
 */
type End = () => unknown

interface Owned {
  end: End
  /** Ends before the leak check looks, as a child process has to; a server must still answer it. */
  beforeCheck: boolean
}

const ownedByFile = new Set<Owned>()
const ownedByTest = new Set<Owned>()
let inTest = false

/** Calls `end` when the running test, or outside of one the file, is over. Returns a way to forget. */
export function atEnd(end: End, { beforeCheck = false } = {}): () => void {
  const owned = { end, beforeCheck }
  const owner = inTest ? ownedByTest : ownedByFile
  owner.add(owned)
  return () => owner.delete(owned)
}

export function beginTest(): void {
  inTest = true
}

/** First half of a test's end: what must be gone before the leak check. */
export async function endBeforeCheck(): Promise<void> {
  await endAll(ownedByTest, (owned) => owned.beforeCheck)
}

/** Second half of a test's end: the rest. */
export async function endTest(): Promise<void> {
  inTest = false
  await endAll(ownedByTest, () => true)
}

/** Marks a hook that has to run after all others of its kind; see environment.ts. */
export function last<Hook extends () => unknown>(hook: Hook): Hook {
  return Object.assign(hook, { [Symbol.for('holdfast.last')]: true })
}

/** The youngest first, and one that fails does not keep the others alive. */
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
