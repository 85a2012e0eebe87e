import fc from 'fast-check'
import { HoldfastError } from '../../../src/index.ts'

/** A function or a program that receives random inputs. */
export interface Target {
  readonly name: string
  /** The share of all inputs that this target receives. */
  readonly share: number
  readonly property: () => fc.IRawProperty<unknown>
}

/**
 * No check takes longer than this, in milliseconds. The limit is generous, because a machine may stand still for a
 * moment.
 */
const LONGEST_MS = 2_000

/** A target whose check is synchronous. */
export function target<T>(
  name: string,
  share: number,
  inputs: fc.Arbitrary<T>,
  check: (input: T) => void,
): Target {
  const timed = (input: T) => {
    const startedAt = performance.now()
    check(input)
    const tookMs = performance.now() - startedAt
    if (tookMs > LONGEST_MS) throw new Error(`It took ${Math.round(tookMs)} ms`)
  }
  return { name, share, property: () => fc.property(inputs, timed) as fc.IRawProperty<unknown> }
}

/** A target whose check is asynchronous. */
export function targetLater<T>(
  name: string,
  share: number,
  inputs: fc.Arbitrary<T>,
  check: (input: T) => Promise<void>,
): Target {
  const timed = async (input: T) => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, fail) => {
      timer = setTimeout(() => fail(new Error(`No answer in ${LONGEST_MS} ms`)), LONGEST_MS)
    })
    await Promise.race([check(input), late]).finally(() => clearTimeout(timer))
  }
  return {
    name,
    share,
    property: () => fc.asyncProperty(inputs, timed) as fc.IRawProperty<unknown>,
  }
}

const [BEFORE, AFTER] = ['Zq7vKd2hTm', 'Wx9pRc4bLn']

/** A password that must be encoded in a URL. Its halves are so long that no input contains a half by chance. */
export const SECRET = `${BEFORE}?/%&#@:${AFTER}`

/** The forms in which the password could be read in a text. */
const READABLE = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
  BEFORE,
  AFTER,
]

export function assertNoSecret(text: string): void {
  const found = READABLE.find((one) => text.includes(one))
  if (found !== undefined) throw new Error(`A secret can be read (${found}): ${text}`)
}

/** Runs the work, and accepts errors of the library. Any other error counts as a crash. */
export function orRefusal<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    assertNoSecret(`${error.message} ${error.stack}`)
    return undefined
  }
}

const printed = fc.constantFrom(
  '',
  '0',
  '1',
  '-1',
  'a',
  '{',
  '}',
  '{a}',
  '\0',
  '\n',
  'é',
  '\ud800',
  '\u202e',
)
const numbers = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, -0, -1, 0.5, Number.NaN, Infinity, -Infinity, 2 ** 31, 2 ** 53, 1e300),
)

/** Texts that have a meaning for some reader, and arbitrary texts. */
export const texts = fc.oneof(
  printed,
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 40 }),
)

const Bare = () => Object.create(null) as object

/** Values that a caller in JavaScript can pass, despite the types. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: numbers },
  { weight: 3, arbitrary: texts },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      ...[
        undefined,
        null,
        true,
        false,
        1n,
        Symbol('s'),
        () => 1,
        [],
        {},
        new Date(0),
        /r/,
        new Map(),
      ],
      ...[
        Buffer.from('b'),
        new Error('e'),
        AbortSignal.abort(),
        new AbortController().signal,
        new Proxy({}, {}),
      ],
    ),
  },
  { weight: 1, arbitrary: fc.constant(undefined).map(Bare) },
  { weight: 1, arbitrary: fc.array(fc.oneof(numbers, texts), { maxLength: 4 }) },
)

/** Returns options with these names. Each option has any value, or is missing. */
export const optionsOf = (
  names: readonly string[],
  values: fc.Arbitrary<unknown> = anything,
): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 1, arbitrary: anything },
    {
      weight: 8,
      arbitrary: fc.dictionary(fc.constantFrom(...names, 'unknown'), values, { maxKeys: 4 }),
    },
  )
