import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allPages, root } from './pages.ts'

/** Every page. */
const CLEAN_PAGES = [
  ...['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'src/README.md'],
  ...allPages().map(({ path }) => path),
]

/** `npm run prose -- --check`, with these arguments. */
function check(at: string, ...paths: string[]) {
  const script = join(at, 'scripts/prose.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check', ...paths], {
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('messages, comments of the source and the scripts, and clean pages have no hard words and no long sentences', () => {
  const { status, stdout } = check(root, '--comments', 'src', 'tools', 'lua', ...CLEAN_PAGES)
  expect(stdout).toMatch(/^\d{5,} words, 0 hard \(0\.0 of 1,000 words\), 0 long sentences\n$/)
  expect(status).toBe(0)
})

test('the titles of tests have no hard words and no long sentences', () => {
  const { status, stdout } = check(root, 'test')
  expect(stdout).toMatch(/^\d{5,} words, 0 hard \(0\.0 of 1,000 words\), 0 long sentences\n$/)
  expect(status).toBe(0)
})

describe('in a copy of the repository', () => {
  const copy = mkdtempSync(join(tmpdir(), 'holdfast-prose-'))

  beforeAll(() => {
    for (const folder of ['src', 'tools', 'scripts']) {
      cpSync(join(root, folder), join(copy, folder), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  })

  afterAll(() => rmSync(copy, { recursive: true }))

  test.each([
    ['a message', 'src/errors.ts', 'It is unknown who holds the lock.', 'Nobody knows who has it.'],
    ['a docstring of a class', 'src/errors.ts', 'The base class of all', 'Besides others: all'],
    [
      'a docstring of a member of an interface',
      'src/options/options.ts',
      'Ends the wait: the call',
      'Ends a wait without an end: the call',
    ],
    [
      'a docstring of an inherited member',
      'src/lease/base-lease.ts',
      'Ends this acquisition.',
      'Lets go of this acquisition.',
    ],
    [
      'a docstring of the API for tests',
      'src/testing.ts',
      'Makes the server reachable again.',
      'The server can be reached anew.',
    ],
    [
      'a text of the page',
      'tools/dashboard/page/table.js',
      'No client waits.',
      'Nobody waits for it.',
    ],
    [
      'the help of a command',
      'tools/cli/locks/list.ts',
      'only locks with waiters',
      'what somebody wants',
    ],
  ])('the check finds one hard word in %s', (_, file, plain, hard) => {
    const text = readFileSync(join(root, file), 'utf8')
    expect(text).toContain(plain)
    writeFileSync(join(copy, file), text.replace(plain, hard))
    const { status, stdout } = check(copy, file)
    writeFileSync(join(copy, file), text)
    expect(stdout).toMatch(/^\S+\.(?:ts|js):\d+: ".+": /)
    expect(stdout).toMatch(/\b1 hard \(/)
    expect(status).toBe(1)
  })

  test.each([
    "test('nobody waits', () => {})",
    "test.each([1, 2])('nobody waits for %s', () => {})",
    "describe('nobody waits ' + 'for a lock', () => {})",
    "describe('a lock', () => { test.skip('nobody waits', () => {}) })",
  ])('the check finds one hard word in the title of %s', (text) => {
    mkdirSync(join(copy, 'test'), { recursive: true })
    writeFileSync(join(copy, 'test/waits.test.ts'), text)
    const { status, stdout } = check(copy, 'test')
    expect(stdout).toMatch(/^test\/waits\.test\.ts:1: "nobody": /)
    expect(stdout).toMatch(/\b1 hard \(/)
    expect(status).toBe(1)
  })
})
