import fc from 'fast-check'
import * as fairBindings from '../../../src/servers/redis/fair-bindings.ts'
import * as lockBindings from '../../../src/servers/redis/lock-bindings.ts'
import * as readWrite from '../../../src/servers/redis/read-write/read-write-bindings.ts'
import * as barrier from '../../../src/servers/redis/scripts/barrier.generated.ts'
import * as fair from '../../../src/servers/redis/scripts/fair.generated.ts'
import * as job from '../../../src/servers/redis/scripts/job.generated.ts'
import * as latch from '../../../src/servers/redis/scripts/latch.generated.ts'
import * as lock from '../../../src/servers/redis/scripts/lock.generated.ts'
import * as permits from '../../../src/servers/redis/scripts/permits.generated.ts'
import * as presence from '../../../src/servers/redis/scripts/presence.generated.ts'
import * as quorum from '../../../src/servers/redis/scripts/quorum.generated.ts'
import * as rate from '../../../src/servers/redis/scripts/rate.generated.ts'
import * as readWriteScripts from '../../../src/servers/redis/scripts/read-write.generated.ts'
import * as semaphore from '../../../src/servers/redis/scripts/semaphore.generated.ts'
import * as permitBindings from '../../../src/servers/redis/semaphore/permit-bindings.ts'
import * as semaphoreBindings from '../../../src/servers/redis/semaphore/semaphore-bindings.ts'
import { type Target, target } from './target.ts'

type Reader = (reply: unknown) => unknown

/** Returns the readers of all bindings in these modules. */
function readersOf(modules: Readonly<Record<string, object>>): [string, Reader][] {
  return Object.entries(modules).flatMap(([room, module]) =>
    Object.entries(module).flatMap(([name, value]): [string, Reader][] =>
      'read' in value ? [[`${room} ${name}`, value.read as Reader]] : [],
    ),
  )
}

const SCRIPTS = {
  fair,
  barrier,
  rate,
  job,
  latch,
  lock,
  permits,
  presence,
  quorum,
  'read-write': readWriteScripts,
  semaphore,
}
const READERS = readersOf({
  ...SCRIPTS,
  lockBindings,
  readWrite,
  permitBindings,
  semaphoreBindings,
  made: {
    release: lockBindings.free(1),
    heartbeat: fairBindings.heartbeat(1),
    confirmFair: fairBindings.confirm,
    releaseFair: fairBindings.releasesOf('NxwZr5PVhg5sb0Me8yo04')(0),
  },
})

const WORDS = [
  ...new Set(
    Object.values(SCRIPTS).flatMap((module) =>
      Object.values(module).flatMap(({ read }) => [
        ...String(read).matchAll(/case ['"]([a-z-]+)['"]/g),
      ]),
    ),
  ),
].map(([, word]) => String(word))

const number = fc.oneof(
  fc.integer({ min: -3, max: 5 }),
  fc.constantFrom(2 ** 53, 1795245008816358, -(2 ** 53), Number.NaN, 0.5, 1e300),
)
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: number },
  { weight: 3, arbitrary: number.map(String) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...WORDS, '', 'x', 'NxwZr5PVhg5sb0Me8yo04:17', ' 1', '1e3', '0x1'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      ...[
        null,
        undefined,
        true,
        false,
        5n,
        {},
        Object.create(null),
        Symbol('x'),
        new Map([['a', 1]]),
      ],
      ...[new Error('ERR'), Buffer.from('1'), Buffer.alloc(16), () => 1],
    ),
  },
)

/** The possible replies of a server, or of any program at its address. */
const reply: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 1, arbitrary: value },
  {
    weight: 8,
    arbitrary: fc.array(
      fc.oneof(
        { weight: 8, arbitrary: value },
        {
          weight: 1,
          arbitrary: fc.array(fc.oneof(value, fc.array(value, { maxLength: 3 })), { maxLength: 5 }),
        },
      ),
      { maxLength: 12 },
    ),
  },
  // Scripts answer like this: a word, followed by numbers, texts and lists.
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...WORDS),
        fc.array(fc.oneof(number, number.map(String), fc.constantFrom('', 'x'), fc.constant([])), {
          maxLength: 9,
        }),
      )
      .map(([word, rest]) => [word, ...rest]),
  },
)

export const REPLIES: readonly Target[] = [
  target(
    'replies of scripts',
    40,
    fc.tuple(fc.constantFrom(...READERS), reply),
    ([[name, read], given]) => {
      try {
        read(given)
      } catch (error) {
        // The callers of the readers report this error as a reply of a program that is not Redis.
        if (
          !(error instanceof TypeError) ||
          error.message !== 'This is not a valid answer of a script.'
        ) {
          throw new Error(`${name}: ${error}`)
        }
      }
    },
  ),
]
export const READER_NAMES: readonly string[] = READERS.map(([name]) => name)
