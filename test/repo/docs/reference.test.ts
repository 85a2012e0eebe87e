import { readdirSync } from 'node:fs'
import {
  Holdfast,
  type HoldfastLock,
  type LeaderElection,
  type PermitExpirableSemaphore,
  type ReadWriteLock,
  type Semaphore,
} from '../../../src/index.ts'
import { resolveOptions } from '../../../src/options/settings.ts'
import { ALIVE_MS, CLAIM_MS } from '../../../src/servers/fair-server.ts'
import {
  clientKey,
  INBOX,
  lockKeys,
  requestKey,
  requestsOf,
} from '../../../src/servers/redis/calls/keys.ts'
import { barrierKeys } from '../../../src/servers/redis/key-names/barrier.ts'
import { electionChannelOf } from '../../../src/servers/redis/key-names/election.ts'
import { queueKeys } from '../../../src/servers/redis/key-names/fair.ts'
import { latchKeys } from '../../../src/servers/redis/key-names/latch.ts'
import { permitKeys, semaphoreKeys } from '../../../src/servers/redis/key-names/permits.ts'
import { rateKeys } from '../../../src/servers/redis/key-names/rate.ts'
import { readWriteKeys } from '../../../src/servers/redis/key-names/read-write.ts'
import { GIVING_BACK_MS } from '../../../src/servers/semaphore-server.ts'
import { WAITING_MS } from '../../../src/servers/waiting-time.ts'
import { eventually } from '../../support/eventually.ts'
import { startMasters } from '../../support/masters.ts'
import { additionalRights, rightsOf } from '../../support/places/rights.ts'
import { type RedisServer, sharedServer } from '../../support/redis-server.ts'
import { allPages, codeHeadings, plain, read, readPage, tableRows } from './pages.ts'

/** One member of an interface in a source file. */
interface Member {
  name: string
  type: string
  doc: string
}

/** The text between the braces of an exported interface. */
function interfaceBody(source: string, name: string): string {
  const body = new RegExp(`export interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(
    source,
  )?.[1]
  if (body === undefined) throw new Error(`There is no interface ${name}`)
  return body
}

function membersOf(source: string, name: string): Member[] {
  const member = /^(?: {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)? {2}(?:readonly )?(\w+)\??: ([^\n]+)/gm
  return [...interfaceBody(source, name).matchAll(member)].map(
    ([, doc = '', one = '', type = '']) => ({ name: one, type, doc }),
  )
}

/** True if a section begins with the signature of its member: the parameters, and the type or the result. */
function hasSignature(body: string, member: string): boolean {
  if (member === 'toJSON') return body.includes('JSON.stringify(')
  const property = `readonly ${member}`
  const method = `${member}(?:<[^\`]+>)?\\([^\`]*\\)`
  return new RegExp(`^\\s*\`(?:${property}|${method}): [^\`]+\``).test(body)
}

describe('the page about options', () => {
  const source = ['options', 'lock-object', 'durability', 'watchdog-thread', 'close-options']
    .map((file) => read(`src/options/${file}.ts`))
    .join('')
  const page = readPage('docs/reference/options.md')

  /** The table that follows "type `X`". */
  function documented(type: string) {
    const at = page.lines.findIndex((line) => line.includes(`type \`${type}\``))
    if (at === -1) throw new Error(`The page does not say "type \`${type}\`"`)
    return tableRows(page.lines.slice(at).join('\n')).map((row) => ({
      name: plain(row.option),
      type: plain(row.type),
      default: plain(row.default),
    }))
  }

  const interfaces = [...source.matchAll(/export interface (\w+Options)\b/g)].map(
    ([, one]) => one ?? '',
  )
  const forUsers = interfaces.filter((one) => one !== 'ResolvedOptions')

  test('the list of the kinds of options is complete', () => {
    expect(forUsers.sort()).toEqual([
      'AwaitOptions',
      'CloseOptions',
      'DurabilityOptions',
      'GetLockOptions',
      'HoldfastOptions',
      'LatchRoundOptions',
      'LockOptions',
      'PlainLockOptions',
      'RequestReleaseOptions',
      'TryLockOptions',
      'TryUsingOptions',
      'WatchdogThreadOptions',
      'WhenFreeOptions',
    ])
  })

  test.each(forUsers)(
    'the page lists exactly the members of %s, with their types and defaults',
    (type) => {
      const declared = membersOf(source, type).map(({ name, type: declaredType, doc }) => {
        const isRequired = new RegExp(`^ {2}${name}: `, 'm').test(interfaceBody(source, type))
        const byDoc = /@default ([^\n]+)/.exec(doc)?.[1]?.replaceAll('`', '')
        return { name, type: declaredType, default: byDoc ?? (isRequired ? 'required' : 'none') }
      })
      expect(declared).not.toEqual([])
      expect(documented(type)).toEqual(declared)
    },
  )

  test('the page states the defaults of the code', () => {
    const resolved: Record<string, unknown> = { ...resolveOptions({ redis: 'redis://nowhere' }) }
    resolved.silenceLimitMs = resolveOptions({
      redis: 'redis://nowhere',
      watchdogThread: true,
    }).silenceLimitMs
    const durability = { replicas: 1 }
    resolved.timeoutMs = resolveOptions({
      redis: 'redis://nowhere',
      durability,
    }).durability?.timeoutMs
    const numbers = [
      ...documented('HoldfastOptions'),
      ...documented('DurabilityOptions'),
      ...documented('WatchdogThreadOptions'),
    ].filter((row) => /^[\d_]+$/.test(row.default))
    expect(numbers.length).toBeGreaterThan(0)
    for (const { name, default: value } of numbers) {
      expect({ [name]: Number(value.replaceAll('_', '')) }).toEqual({ [name]: resolved[name] })
    }
  })
})

describe('the page about errors', () => {
  const files = [
    'src/errors.ts',
    'src/lease/release-requested-error.ts',
    'src/locks/leader/resigned-error.ts',
    'src/locks/read-write/upgrade-error.ts',
    'src/options/durability.ts',
    'src/waiting/wait-timeout-error.ts',
  ]
  const source = files.map(read).join('')
  const page = readPage('docs/reference/errors.md')
  const sections = codeHeadings(page, 2)
  const declaration = /HoldfastErrorCode =([\s\S]*?)\n\n/.exec(source)?.[1] ?? ''
  const codes = [...declaration.matchAll(/'(HOLDFAST_\w+)'/g)].map(([, code]) => code ?? '')

  test('the page has a section for each code, and no other section', () => {
    expect(codes.length).toBeGreaterThan(3)
    expect(sections.map(({ code }) => code).sort()).toEqual([...codes].sort())
  })

  test('the page names the class of each code', () => {
    const classes = [
      ...source.matchAll(
        /export class (\w+) extends HoldfastError[\s\S]*?super\(\s*'(HOLDFAST_\w+)'/g,
      ),
    ].map(([, name, code]) => `${code} ${name}`)
    const documented = sections.map(({ code, body }) => `${code} ${/`(\w+)`/.exec(body)?.[1]}`)
    expect(documented.sort()).toEqual(classes.sort())
  })

  test('the page about troubleshooting has each code of an error and of a warning', () => {
    const warnings = tableRows(page.headings.find(({ text }) => text === 'Warnings')?.body ?? '')
    const named = warnings.map((row) => plain(row.code))
    expect(named).toContain('HOLDFAST_SELF_WAIT')
    const byCode = readPage('docs/how-to/troubleshooting.md').headings.find(
      ({ text }) => text === 'By code',
    )
    const found = tableRows(byCode?.body ?? '').map(
      ({ code }) => /HOLDFAST_\w+/.exec(code ?? '')?.[0],
    )
    expect(found.sort()).toEqual([...codes, ...named].sort())
  })

  test('the page has exactly the reasons of a loss', () => {
    const declared = /LossReason =([\s\S]*?)\n\n/.exec(source)?.[1] ?? ''
    const reasons = [...declared.matchAll(/\| '(\w+)'/g)].map(([, reason]) => reason)
    const lines = (sections.find(({ code }) => code === 'HOLDFAST_LEASE_LOST')?.body ?? '').split(
      '\n',
    )
    const table = lines.slice(lines.findIndex((line) => line.startsWith('| reason |'))).join('\n')
    expect(tableRows(table).map((row) => plain(row.reason))).toEqual(reasons)
  })

  test('the page has exactly the warnings of the code', () => {
    const given = ['src', 'tools']
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
          (file) => `${folder}/${file}`,
        ),
      )
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => {
        const calls = /emitWarning\([\s\S]*?code: '(HOLDFAST_\w+)'|\bwarn\(\s*'(HOLDFAST_\w+)'/g
        return [...read(file).matchAll(calls)]
      })
      .map(([, byNode, byUs]) => byNode ?? byUs)
    const warnings = page.headings.find(({ text }) => text === 'Warnings')
    const told = tableRows(warnings?.body ?? '').map((row) => plain(row.code))
    expect(told.sort()).toEqual(given.sort())
  })

  test('other pages name no code that the page about errors lacks', () => {
    const known = new Set(page.lines.join('\n').match(/HOLDFAST_[A-Z_]+/g))
    const named = allPages().flatMap(
      ({ lines }) => lines.join('\n').match(/HOLDFAST_[A-Z_]+/g) ?? [],
    )
    expect(named.filter((code) => !known.has(code))).toEqual([])
  })
})

describe('the page about events', () => {
  const source = read('src/events.ts')
  const sections = codeHeadings(readPage('docs/reference/events.md'), 2)
  const declared = membersOf(source, 'HoldfastEvents')
  /** The fields in the order of the type, after the fields of its base type. */
  const fieldsOf = (type: string): string[] => {
    const base = new RegExp(`export interface ${type} extends (\\w+)`).exec(source)?.[1]
    const own = membersOf(source, type).map(({ name }) => name)
    return base === undefined ? own : [...fieldsOf(base), ...own]
  }

  test('the page has a section for each event, and no other section', () => {
    expect(declared.length).toBeGreaterThan(3)
    expect(sections.map(({ code }) => code).sort()).toEqual(declared.map(({ name }) => name).sort())
  })

  test.each(declared)(
    'the page lists exactly the fields that listeners of $name receive',
    ({ name, type }) => {
      const own = [...type.matchAll(/readonly (\w+):/g)].map(([, field]) => field)
      const named = [...type.matchAll(/\b(\w+Event)\b/g)].map(([, name]) => String(name))
      const fields = [...named.flatMap(fieldsOf), ...own]
      const section = sections.find(({ code }) => code === name)
      expect(tableRows(section?.body ?? '').map((row) => plain(row.field))).toEqual(fields)
    },
  )
})

describe('the page about testing', () => {
  test('the page has exactly the members of a server in memory', () => {
    const body = interfaceBody(read('src/testing.ts'), 'MemoryServer')
    const members = [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, one]) => one)
    const { headings } = readPage('docs/reference/testing.md')
    const documented = headings.filter(({ level }) => level === 3).map(({ text }) => plain(text))
    expect(members.length).toBeGreaterThan(5)
    expect(documented).toEqual(members)
  })
})

describe('the page about scripts', () => {
  const sections = codeHeadings(readPage('lua/README.md'), 2)
  const files = readdirSync('lua', { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.lua') && !file.startsWith('parts/'))

  test('the page has a section for each script, and no other section', () => {
    expect(files.length).toBeGreaterThan(3)
    expect(sections.map(({ code }) => code)).toEqual(files.map((file) => file.slice(0, -4)).sort())
  })

  test.each(files)('the page has the header of %s, word for word', (file) => {
    const header = /^--\[\[\n([\s\S]*?)\n\]\]\n/.exec(read(`lua/${file}`))?.[1] ?? ''
    const section = sections.find(({ code }) => `${code}.lua` === file)
    expect(section?.body).toContain(`\`\`\`text\n${header.replace(/^ {2}/gm, '')}\n\`\`\``)
  })
})

describe('the pages about the client, locks, leases and semaphores', () => {
  /** Each class with members has a section on one of these pages. */
  const pageOf = {
    Holdfast: 'client',
    Lock: 'lock',
    Lease: 'lease',
    ReadWriteLock: 'read-write-lock',
    UpgradableLease: 'read-write-lock',
    MultiLock: 'multi-lock',
    MultiLease: 'multi-lock',
    CountDownLatch: 'latch',
    CyclicBarrier: 'cyclic-barrier',
    RateLimiter: 'rate-limiter',
    WebLockManager: 'web-locks',
    LeaderElection: 'leader-election',
    Term: 'leader-election',
    PermitExpirableSemaphore: 'semaphores',
    Permit: 'semaphores',
    Semaphore: 'semaphores',
  } as const

  /** The methods of `Holdfast` that the kinds add: the members of each `interface …Methods`. */
  const methodsOfKinds = () =>
    readdirSync('src/kinds').flatMap((file) =>
      [...read(`src/kinds/${file}`).matchAll(/^export interface \w+Methods \{\n([\s\S]*?)^\}/gm)]
        .flatMap(([, body = '']) => [...body.matchAll(/^ {2}(\w+)(?:<T>)?\(/gm)])
        .map(([, member = '']) => member),
    )

  /** Returns the headings of the section of a class. The first heading is the heading of the section. */
  function sectionOf(name: keyof typeof pageOf) {
    const { headings } = readPage(`docs/reference/${pageOf[name]}.md`)
    const begin = headings.findIndex(({ level, text }) => level === 2 && text.endsWith(`: ${name}`))
    if (begin === -1) throw new Error(`docs/reference/${pageOf[name]}.md has no section on ${name}`)
    const end = headings.findIndex(({ level }, i) => i > begin && level <= 2)
    return headings.slice(begin, end === -1 ? undefined : end)
  }

  test.each([
    ['Holdfast', 'src/holdfast.ts'],
    [
      'Lock',
      'src/locks/lock/holdfast-lock.ts',
      'src/locks/lock/contended-lock.ts',
      'src/locks/lock/base-lock.ts',
    ],
    ['Lease', 'src/lease/lease.ts', 'src/lease/base-lease.ts'],
    ['ReadWriteLock', 'src/locks/read-write/read-write-lock.ts'],
    ['UpgradableLease', 'src/locks/read-write/upgradable-lease.ts'],
    ['CountDownLatch', 'src/locks/latch/count-down-latch.ts'],
    ['CyclicBarrier', 'src/locks/barrier/cyclic-barrier.ts'],
    ['RateLimiter', 'src/locks/rate/rate-limiter.ts'],
    ['WebLockManager', 'src/locks/web/web-lock-manager.ts'],
    ['LeaderElection', 'src/locks/leader/leader-election.ts'],
    ['Term', 'src/locks/leader/term.ts'],
    ['MultiLock', 'src/locks/multi/multi-lock.ts', 'src/locks/lock/base-lock.ts'],
    ['MultiLease', 'src/locks/multi/multi-lease.ts', 'src/lease/base-lease.ts'],
    ['PermitExpirableSemaphore', 'src/locks/semaphore/permit-expirable-semaphore.ts'],
    ['Permit', 'src/locks/semaphore/permit.ts', 'src/lease/lease.ts', 'src/lease/base-lease.ts'],
    ['Semaphore', 'src/locks/semaphore/semaphore.ts'],
  ] as const)(
    'the pages have exactly the public members of %s, each with its signature',
    (name, ...files) => {
      const members = files.flatMap((file) => {
        const classes = read(file)
          .split(/^export (?:abstract )?class /m)
          .slice(1)
        const body = classes.find((one) => one.startsWith(`${name} `)) ?? classes[0] ?? ''
        const isInternal = (at: number) =>
          /\/\*\*(?:(?!\*\/)[\s\S])*@internal\s+\*\/\s*$/.test(body.slice(0, at))
        return [
          ...body.matchAll(
            /^ {2}(?:(?:abstract|readonly|get|set|async) )*([a-zA-Z]\w*)(?=[(<:])/gm,
          ),
        ].flatMap(({ 1: member = '', index }) =>
          member === 'constructor' || isInternal(index) ? [] : [member],
        )
      })
      if (name === 'Holdfast') members.push(...methodsOfKinds())
      const sections = sectionOf(name).flatMap(({ level, text, body }) => {
        const member = level === 3 ? /^`(\w+)`$/.exec(text)?.[1] : undefined
        return member === undefined ? [] : [{ member, body }]
      })
      expect(members.length).toBeGreaterThan(1)
      expect(sections.map(({ member }) => member).sort()).toEqual([...new Set(members)].sort())
      const withoutSignature = sections.filter(({ member, body }) => !hasSignature(body, member))
      expect(withoutSignature.map(({ member }) => member)).toEqual([])
    },
  )

  test.each([
    ['the answer of inspect()', 'LockFacts', '`LockInfo`', 'Lock'],
    ['an entry of the queue', 'QueueEntry', 'A `QueueEntry`', 'Lock'],
    ['a read-write lock', 'ReadWriteFacts', '`ReadWriteFacts`', 'ReadWriteLock'],
    ['a holder of a read-write lock', 'ReadWriteHolder', 'A `ReadWriteHolder`', 'ReadWriteLock'],
    ['a count-down latch', 'LatchFacts', '`LatchFacts`', 'CountDownLatch'],
    ['a cyclic barrier', 'BarrierFacts', '`BarrierFacts`', 'CyclicBarrier'],
    ['a client with waiters', 'WaitingClient', 'A `WaitingClient`', 'ReadWriteLock'],
    ['a semaphore', 'PermitFacts', '`PermitFacts`', 'PermitExpirableSemaphore'],
    ['a permit', 'AcquiredPermit', 'An `AcquiredPermit`', 'PermitExpirableSemaphore'],
    ['a holder of permits', 'PermitHolder', 'A `PermitHolder`', 'PermitExpirableSemaphore'],
    [
      'a waiter for permits',
      'WaitingForPermits',
      'A `WaitingForPermits`',
      'PermitExpirableSemaphore',
    ],
    ['a semaphore without leases', 'SemaphoreFacts', '`SemaphoreFacts`', 'Semaphore'],
  ] as const)('the pages have exactly the fields of %s', (_, declaration, introduction, name) => {
    const section = sectionOf(name).find(({ text }) => text === '`inspect`')?.body ?? ''
    const files = ['facts', 'permit-server', 'barrier-server']
    const source = files
      .map((file) => `src/servers/${file}.ts`)
      .map(read)
      .find((text) => text.includes(`export interface ${declaration} `))
    const facts = membersOf(source ?? '', declaration)
    expect(section).toContain(introduction)
    const rows = tableRows(section.slice(section.indexOf(introduction)))
    expect(rows.map((row) => ({ name: plain(row.field), type: plain(row.type) }))).toEqual(
      facts.map(({ name, type }) => ({ name, type })),
    )
  })
})

describe('the page about elections', () => {
  const page = readPage('docs/reference/leader-election.md')
  const ofElection = page.headings.findIndex(({ text }) => text.endsWith(': LeaderElection'))
  const bodyOf = (heading: string) =>
    page.headings.slice(ofElection).find(({ text }) => text === heading)?.body ?? ''

  test.each([
    ['LeaderInfo', 'a `LeaderInfo`', '`leader`'],
    ['ElectionInfo', 'an `ElectionInfo`', '`inspect`'],
    ['CandidateInfo', 'A `CandidateInfo`', '`inspect`'],
  ])('the page has exactly the fields of %s', (declaration, introduction, heading) => {
    const body = bodyOf(heading)
    expect(body).toContain(introduction)
    const rows = tableRows(body.slice(body.indexOf(introduction)))
    const members = membersOf(read('src/locks/leader/election-info.ts'), declaration)
    expect(rows.map((row) => ({ name: plain(row.field), type: plain(row.type) }))).toEqual(
      members.map(({ name, type }) => ({ name, type })),
    )
  })

  test('the page has exactly the options of lead()', () => {
    const members = membersOf(read('src/locks/leader/leader-options.ts'), 'LeadOptions')
    const rows = tableRows(bodyOf('`lead`'))
    expect(rows.map((row) => ({ name: plain(row.option), type: plain(row.type) }))).toEqual(
      members.map(({ name, type }) => ({ name, type })),
    )
  })
})

test('the page about the fair lock states the times of the code', () => {
  const queue = readPage('docs/explanation/fair-lock.md').headings.find(
    ({ text }) => text === 'The queue',
  )
  const times = new Map(
    tableRows(queue?.body ?? '').map((row) => [
      plain(row.item),
      Number(/[\d,]+(?= ms)/.exec(row.time ?? '')?.[0].replaceAll(',', '')),
    ]),
  )
  expect(times).toEqual(
    new Map([
      ['heartbeat', CLAIM_MS / 3],
      ['place', ALIVE_MS],
      ['claim window', CLAIM_MS],
    ]),
  )
})

test('the page about the read-write lock states the times of the code', () => {
  const page = readPage('docs/explanation/read-write-lock.md').lines.join(' ')
  expect(page).toContain(`after ${CLAIM_MS / 1000} s at the latest`)
  expect(page).toContain(`as a waiter for ${WAITING_MS / 1000} s`)
})

test('the page about semaphores states the times of the code', () => {
  const page = readPage('docs/explanation/semaphores.md').lines.join(' ')
  expect(page).toContain(`${WAITING_MS / 1000} s after the last request of this client`)
  expect(GIVING_BACK_MS).toBe(600_000)
  expect(page).toContain('for at most ten minutes')
})

describe('the page about keys', () => {
  const page = readPage('docs/reference/keys.md')

  const text = page.lines.join('\n')
  /** The names of all tables below a heading. */
  const namesBelow = (heading: string) => {
    const { body = '' } = page.headings.find((one) => one.text === heading) ?? {}
    const own = body.split(/^#+ /m)[0] ?? ''
    return own
      .split(/\n\n/)
      .flatMap(tableRows)
      .flatMap((row) => (row.name === undefined ? [] : [plain(row.name)]))
  }

  test('the page has the key names of the code', () => {
    const { lock, counter, channel } = lockKeys('app:order:1001')
    const { queue, waiting, javaQueue, javaTimeouts } = queueKeys('app:order:1001')
    expect(namesBelow('Lock')).toEqual([lock, counter, channel])
    expect(namesBelow('Client')).toEqual([clientKey('<clientId>'), requestsOf('<clientId>')])
    const ofJava = [javaQueue, javaTimeouts]
    expect(namesBelow('Fair lock')).toEqual([queue, waiting, `${INBOX}<clientId>`, ...ofJava])
    expect(namesBelow('Leader election')).toEqual([electionChannelOf('app:order:1001')])
    const { prefix, ...readWrite } = readWriteKeys('app:order:1001')
    expect(readWrite).toMatchObject({ lock, counter })
    expect(namesBelow('Read-write lock')).toEqual([
      `${prefix}:<clientId>:<owner>:rwlock_timeout:1`,
      ...[readWrite.readers, readWrite.writers, readWrite.alive, readWrite.phase],
      readWrite.channel,
    ])
    const { latch, round, kind, channel: ofLatch } = latchKeys('app:order:1001', false)
    const ofRequest = requestKey('app:order:1001', '<clientId>:latch:<n>')
    expect(namesBelow('Count-down latch')).toEqual([latch, round, kind, ofRequest, ofLatch])
    const { barrier, state, settled, channel: rounds } = barrierKeys('app:order:1001')
    expect(namesBelow('Cyclic barrier')).toEqual([barrier, state, settled, rounds])
    const { log, state: ofRate } = rateKeys('app:order:1001')
    expect(namesBelow('Rate limiter')).toEqual([log, ofRate])
    expect(text).toContain(latchKeys('{ada}:order', false).channel)
    expect(text).toContain(latchKeys('{ada}:order', true).channel)
    expect(text).toContain(`${readWriteKeys('{ada}:order').prefix}:<clientId>:<owner>:rwlock`)
    expect(text).toContain(lockKeys('{ada}:order').channel)
  })

  test('the page has the key names of the code for semaphores', () => {
    const { queue: clients, alive, kind, channel, tickets } = semaphoreKeys('app:api')
    const request = requestKey('app:api', '<clientId>:<owner>')
    const names = ['app:api', clients, alive, request, kind, channel, tickets]
    expect(namesBelow('Semaphore')).toEqual(names)
    const { timeouts, counter, holders } = permitKeys('app:api')
    expect(namesBelow('Semaphore with leases')).toEqual([timeouts, holders])
    expect(text).toContain(`\`${counter}\`, and two more keys:`)
  })
})

describe('the page about rights', () => {
  const server = sharedServer()
  const toSelect = additionalRights('+select')

  /** Commands that a connection sends without a script. Sharded channels have their own variants. */
  const ofConnections = 'evalsha eval publish subscribe unsubscribe ping info time hget del'
  const numsub = 'pubsub|numsub'

  test.each([
    ['getLock', ['lock', 'presence'], [numsub], []],
    ['getFairLock', ['lock', 'presence', 'fair'], [numsub], []],
    ['getReadWriteLock', ['presence', 'read-write'], [], []],
    ['getCountDownLatch', ['presence', 'latch'], [numsub], ['hdel']],
    ['getCyclicBarrier', ['presence', 'barrier'], [], ['hdel']],
    ['getRateLimiter', ['presence', 'rate'], [], ['hdel', 'publish', 'subscribe', 'unsubscribe']],
    ['job', ['lock', 'presence', 'job'], [numsub], []],
    ['getPermitExpirableSemaphore', ['presence', 'permits'], ['unlink'], []],
    ['getSemaphore', ['presence', 'semaphore'], ['unlink'], []],
    ['masters', ['lock', 'presence', 'quorum'], [numsub, 'config|get'], []],
  ] as const)(
    'the page lists the rights to the commands of the scripts, and no other rights, for %s',
    (title, rooms, others, spared) => {
      const words = rightsOf(title).filter((word) => word.startsWith('+'))
      const called = rooms.flatMap((room) =>
        [
          ...read(`src/servers/redis/scripts/${room}.generated.ts`).matchAll(
            /redis\.p?call\((?:\s|\\n)*'([A-Z]+)'/g,
          ),
        ].map(([, command]) => String(command).toLowerCase()),
      )
      const isSpared = (one: string) => spared.some((other) => other === one)
      const ofScripts = called.filter((one) => one !== 'pubsub')
      const ofClient = [...ofScripts, ...ofConnections.split(' ')]
      const needed = new Set([...ofClient.filter((one) => !isSpared(one)), ...others])
      expect(words.map((word) => word.slice(1)).sort()).toEqual([...needed].sort())
    },
  )

  test.each([
    ['getLock', [...rightsOf('getLock'), ...toSelect]],
    ['getFairLock', [...rightsOf('getFairLock'), ...toSelect]],
  ] as const)(
    'the listed rights are sufficient to connect, wait, hand over, inspect and force with %s',
    async (kind, patterns) => {
      await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', ...patterns)
      const login = { username: 'app', password: 'secret', db: 2 }
      const redis = { host: server.host, port: server.port, ...login }
      const errors: string[] = []
      const newClient = () => {
        const client = new Holdfast({ redis, keyPrefix: 'app:' })
        return client.on('error', ({ message }) => errors.push(message))
      }
      const clients = [newClient(), newClient()]
      const [mine, others] = clients.map((client) => client[kind]('order')) as [
        HoldfastLock,
        HoldfastLock,
      ]
      try {
        const held = await mine.lock()
        const waiting = [mine, others].map((lock) => lock.using(() => undefined))
        await eventually(async () => (await mine.inspect()).waiters > 0, {
          message: 'the other client to listen',
        })
        await held.release()
        await Promise.all(waiting)
        await others.lock()
        expect(await others.forceUnlock()).toBe(true)
      } finally {
        await Promise.all(clients.map((client) => client.close()))
        await server.admin.call('ACL', 'DELUSER', 'app')
      }
      expect({ errors, denied: await server.admin.call('ACL', 'LOG') }).toEqual({
        errors: [],
        denied: [],
      })
    },
  )

  test('the listed rights are sufficient for a latch', async () => {
    const patterns = rightsOf('getCountDownLatch')
    await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', ...patterns)
    const login = { username: 'app', password: 'secret' }
    const redis = { host: server.host, port: server.port, ...login }
    const client = new Holdfast({ redis, keyPrefix: 'app:' })
    try {
      const latch = client.getCountDownLatch('ready')
      expect(await latch.trySetCount(3)).toBe(true)
      const waiting = latch.await()
      await eventually(async () => (await latch.inspect()).waiters > 0)
      expect(await latch.countDown()).toBe(2)
      expect(await latch.delete()).toBe(true)
      expect(await waiting).toBe(true)
    } finally {
      await client.close()
      await server.admin.call('ACL', 'DELUSER', 'app')
    }
    expect(await server.admin.call('ACL', 'LOG')).toEqual([])
  })

  test('the listed rights are sufficient to stand, lead, resign, inspect and observe with getLeaderElection', async () => {
    const patterns = rightsOf('getLeaderElection')
    await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', ...patterns)
    const redis = { host: server.host, port: server.port, username: 'app', password: 'secret' }
    const errors: string[] = []
    const clients = [1, 2].map(() =>
      new Holdfast({ redis, keyPrefix: 'app:', leaseMs: 600_000 }).on('error', ({ message }) =>
        errors.push(message),
      ),
    )
    const [a, b] = clients.map((client) => client.getLeaderElection('order')) as [
      LeaderElection,
      LeaderElection,
    ]
    const told: boolean[] = []
    try {
      b.on('changed', (leader) => told.push(leader !== null))
      await eventually(() => told.length === 1)
      const led = a.lead(
        ({ signal }) => new Promise((end) => signal.addEventListener('abort', end)),
      )
      await eventually(() => told.length === 2)
      const next = b.lead(() => undefined)
      await eventually(async () => (await a.inspect()).candidateCount === 1)
      await a.resign()
      await Promise.all([led, next])
      await eventually(() => told.length >= 3 && told.at(-1) === false)
    } finally {
      await Promise.all(clients.map((client) => client.close()))
      await server.admin.call('ACL', 'DELUSER', 'app')
    }
    expect({ errors, denied: await server.admin.call('ACL', 'LOG') }).toEqual({
      errors: [],
      denied: [],
    })
  })

  test('the listed rights are sufficient to read, write, wait, force and inspect with getReadWriteLock', async () => {
    const patterns = rightsOf('getReadWriteLock')
    await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', ...patterns)
    const login = { username: 'app', password: 'secret' }
    const redis = { host: server.host, port: server.port, ...login }
    let renewals = 0
    const errors: string[] = []
    const newClient = () => {
      const client = new Holdfast({ redis, keyPrefix: 'app:', leaseMs: 3_000 })
      client.on('renewed', () => {
        renewals++
      })
      return client.on('error', ({ message }) => errors.push(message))
    }
    const clients = [newClient(), newClient(), newClient()]
    const [mine, writes, reads] = clients.map((client) => client.getReadWriteLock('order')) as [
      ReadWriteLock,
      ReadWriteLock,
      ReadWriteLock,
    ]
    const waiting = (list: 'waitingToRead' | 'waitingToWrite') =>
      eventually(async () => (await mine.inspect())[list].length > 0, { message: list })
    try {
      const held = await mine.writeLock().lock()
      const reading = reads.readLock().using(() => undefined)
      await waiting('waitingToRead')
      const writing = writes.writeLock().using(() => undefined)
      await waiting('waitingToWrite')
      await eventually(() => renewals > 0, { message: 'a lease to be renewed' })
      await held.release()
      await Promise.all([reading, writing])
      await mine.upgradableLock().using(() => mine.writeLock().using(() => undefined))
      await mine.readLock().lock()
      expect(await reads.readLock().forceUnlock()).toBe(true)
    } finally {
      await Promise.all(clients.map((client) => client.close()))
      await server.admin.call('ACL', 'DELUSER', 'app')
    }
    expect({ errors, denied: await server.admin.call('ACL', 'LOG') }).toEqual({
      errors: [],
      denied: [],
    })
  })

  test('the listed rights are sufficient for semaphores', async () => {
    const patterns = ['getPermitExpirableSemaphore', 'getSemaphore'].flatMap(rightsOf)
    await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', ...patterns)
    const login = { username: 'app', password: 'secret' }
    const redis = { host: server.host, port: server.port, ...login }
    let renewals = 0
    const errors: string[] = []
    const newClient = () => {
      const client = new Holdfast({ redis, keyPrefix: 'app:', leaseMs: 3_000 })
      client.on('renewed', () => {
        renewals++
      })
      return client.on('error', ({ message }) => errors.push(message))
    }
    const clients = [newClient(), newClient()]
    const leased = clients.map((client) => client.getPermitExpirableSemaphore('leased'))
    const bare = clients.map((client) => client.getSemaphore('plain'))
    const [[mine, others], [plainHere, plainThere]] = [leased, bare] as [
      [PermitExpirableSemaphore, PermitExpirableSemaphore],
      [Semaphore, Semaphore],
    ]
    const somebodyWaits = (semaphore: PermitExpirableSemaphore | Semaphore) =>
      eventually(async () => (await semaphore.inspect()).waiting.length > 0, {
        message: 'the other client to wait',
      })
    try {
      await mine.trySetPermits(2)
      await mine.setPermits(1)
      const permit = await mine.acquire()
      const waiting = others.using(() => undefined)
      await somebodyWaits(mine)
      await eventually(() => renewals > 0, { message: 'a lease to be renewed' })
      await permit.release()
      await waiting
      expect(await mine.tryAcquire({ permits: 1, leaseMs: 10 })).not.toBeNull()
      await eventually(async () => (await mine.availablePermits()) === 1)
      await mine.addPermits(1)
      expect(await mine.drainPermits()).toBe(2)

      await plainHere.trySetPermits(1, { ttlMs: 60_000 })
      await plainHere.acquire()
      const waitingToo = plainThere.using(() => undefined)
      await somebodyWaits(plainHere)
      await plainHere.release()
      await waitingToo
      expect(await plainHere.addPermits(1)).toBe(2)
      expect(await plainHere.drainPermits()).toBe(2)
      expect(await plainHere.releaseIfExists()).toBe(true)
    } finally {
      await Promise.all(clients.map((client) => client.close()))
      await server.admin.call('ACL', 'DELUSER', 'app')
      await server.flush()
    }
    expect({ errors, denied: await server.admin.call('ACL', 'LOG') }).toEqual({
      errors: [],
      denied: [],
    })
  })

  test('without the rights for the queue, all calls of a lock work except inspect(), and a fair lock is refused', async () => {
    const all = [...new Set([...rightsOf('getLock'), ...rightsOf('getFairLock')])]
    const patterns = all.filter((pattern) => !pattern.startsWith('~holdfast_'))
    expect(all.length - patterns.length).toBe(3)
    await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', ...patterns)
    const login = { username: 'app', password: 'secret' }
    const redis = { host: server.host, port: server.port, ...login }
    const client = new Holdfast({ redis, keyPrefix: 'app:' })
    try {
      const lock = client.getLock('order')
      const lease = await lock.lock()
      expect([await lock.isLocked(), await lock.isHeld(), await lock.holdCount()]).toEqual([
        true,
        true,
        1,
      ])
      expect(await lock.remainingMs()).toBeGreaterThan(0)
      await expect(lock.inspect()).rejects.toMatchObject({ code: 'HOLDFAST_REFUSED' })
      await lease.release()
      await lock.lock()
      expect(await lock.forceUnlock()).toBe(true)
      const fair = client.getFairLock('fair')
      await expect(fair.lock()).rejects.toMatchObject({
        code: 'HOLDFAST_REFUSED',
        message: expect.stringMatching(/NOPERM|no permissions/i),
      })
      expect(await server.admin.exists('app:fair')).toBe(0)
    } finally {
      await client.close()
      await server.admin.call('ACL', 'DELUSER', 'app')
      await server.admin.call('ACL', 'LOG', 'RESET')
    }
  })

  test('the listed rights are sufficient for masters', async () => {
    const patterns = rightsOf('masters')
    const servers = await startMasters(3)
    const setUser = ['SETUSER', 'app', 'on', '>secret', ...patterns]
    await Promise.all(servers.map(({ admin }) => admin.call('ACL', ...setUser)))
    const login = { username: 'app', password: 'secret' }
    const masters = servers.map(({ host, port }) => ({ host, port, ...login }))
    const errors: string[] = []
    const newClient = () => {
      // The time limit for an answer of a master is a tenth of the lease.
      const options = { masters, keyPrefix: 'app:', leaseMs: 6_000, newDeployment: true }
      return new Holdfast(options).on('error', ({ message }) => errors.push(message))
    }
    const clients = [newClient(), newClient()]
    const [mine, others] = clients.map((client) => client.getLock('order')) as [
      HoldfastLock,
      HoldfastLock,
    ]
    const [, { admin: away }] = servers as [RedisServer, RedisServer]
    try {
      const held = await mine.lock()
      const waiting = [mine, others].map((lock) => lock.using(() => undefined))
      await away.flushdb()
      await eventually(async () => (await away.exists('app:order')) === 1, {
        message: 'the emptied one to be given the lock',
      })
      await held.release()
      await Promise.all(waiting)
      await others.lock()
      expect(await others.forceUnlock()).toBe(true)
    } finally {
      await Promise.all(clients.map((client) => client.close()))
    }
    const denied = await Promise.all(servers.map(({ admin }) => admin.call('ACL', 'LOG')))
    expect({ errors, denied }).toEqual({ errors: [], denied: [[], [], []] })
  })
})
