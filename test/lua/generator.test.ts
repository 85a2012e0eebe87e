import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const generator = resolve(__dirname, '../../scripts/build-lua.mjs')

let dir: string
let output: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-lua-'))
  output = join(dir, 'scripts.generated.ts')
  mkdirSync(join(dir, 'lua'))
})

afterEach(() => rmSync(dir, { recursive: true }))

function write(file: string, lines: string[]) {
  writeFileSync(join(dir, 'lua', file), `${lines.join('\n')}\n`)
}

function generate(...options: string[]) {
  const args = [generator, ...options, join(dir, 'lua'), output]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** A script with the given declarations (they begin in line 4) and code. */
function script(declarations: string[], code: string[]) {
  const header = [
    '--[[',
    '  Does something.',
    '',
    ...declarations,
    '',
    '  Returns',
    '    1  always',
  ]
  return [...header, ']]', ...code]
}

const good = script(
  ['  KEYS[1]  lock     hash: owner -> hold count', '  ARGV[1]  leaseMs  in milliseconds'],
  ['return { KEYS[1], ARGV[1] }'],
)

/** What the generator says about a script that it refuses. */
function refusal(lines: string[]) {
  write('bad.lua', lines)
  const { status, stderr } = generate()
  expect(status).toBe(1)
  return stderr
    .trim()
    .split('\n')
    .map((text) => text.replace(/^.*bad\.lua:/, ''))
}

describe('a good script', () => {
  test('becomes an export with its names in order, its hash and its source', async () => {
    write('take-it.lua', good)
    expect(generate()).toMatchObject({ status: 0, stderr: '' })

    const source = readFileSync(join(dir, 'lua/take-it.lua'), 'utf8')
    const { takeIt } = await import(output)
    expect(takeIt).toEqual({
      name: 'take-it',
      keys: ['lock'],
      args: ['leaseMs'],
      sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
      source,
    })
    expect(readFileSync(output, 'utf8')).toMatch(/^\/\/ Generated .* Do not edit\.\n/)
  })

  test('may take any number of keys and arguments', async () => {
    const declarations = [
      '  KEYS[*]  locks    hashes',
      '  ARGV[1]  leaseMs  in milliseconds',
      '  ARGV[*]  owners   one for each lock',
    ]
    write('all.lua', script(declarations, ['for i = 1, #KEYS do f(ARGV[1], ARGV[i + 1]) end']))
    expect(generate()).toMatchObject({ status: 0, stderr: '' })

    const { all } = await import(output)
    expect(all).toMatchObject({ keys: ['locks'], args: ['leaseMs', 'owners'] })
  })

  test('may talk of other keys in its comments and strings', () => {
    const code = ['-- not KEYS[2]', "local s = 'it\\'s ARGV[2]'", '--[==[', 'KEYS[3]', ']==]']
    write('talk.lua', [...good, ...code])
    expect(generate()).toMatchObject({ status: 0, stderr: '' })
  })
})

describe('a part that scripts share', () => {
  const including = (...code: string[]) => [...good, '-- include: parts/shared.lua', ...code]

  function part(...lines: string[]) {
    mkdirSync(join(dir, 'lua/parts'), { recursive: true })
    write('parts/shared.lua', lines)
  }

  /** What the generator makes of `take.lua`. */
  function generated() {
    expect(generate()).toMatchObject({ status: 0, stderr: '' })
    const source = readFileSync(output, 'utf8')
    const text = source.slice(source.indexOf('export const take:'))
    const [, sha1] = /^ {2}sha1: "(.*)",$/m.exec(text) ?? []
    const [, lua] = /^ {2}source: (".*"),$/m.exec(text) ?? []
    return { source, sha1, lua: JSON.parse(lua ?? 'null') as unknown }
  }

  test('is put in where it is named, and is part of the hash', () => {
    part('local function f() return "$&" end', '', '')
    write('take.lua', including('return f()'))
    const { sha1, lua } = generated()
    expect(lua).toBe([...good, 'local function f() return "$&" end', 'return f()', ''].join('\n'))
    expect(sha1).toBe(createHash('sha1').update(String(lua)).digest('hex'))
  })

  test('is put into every script that names it, and is no script itself', () => {
    part('local shared = 1')
    write('take.lua', including())
    write('give.lua', including())
    const { source } = generated()
    expect(source.match(/local shared = 1/g)).toHaveLength(2)
    expect(source.match(/^export const \w+/gm)).toEqual(['export const give', 'export const take'])
  })

  test('changes the hash when it changes, which --check notices', () => {
    part('local shared = 1')
    write('take.lua', including())
    const { sha1 } = generated()
    expect(generate('--check').status).toBe(0)
    part('local shared = 2')
    expect(generate('--check').status).toBe(1)
    expect(generated().sha1).not.toBe(sha1)
  })

  test('must be there', () => {
    expect(refusal(including())).toEqual([
      '1: "-- include: parts/shared.lua" names a file that is not there',
    ])
  })

  test('is only what is named in a line of its own', () => {
    part('local shared = 1')
    write('take.lua', [...good, '-- see -- include: parts/shared.lua', '--  include: parts/x.lua'])
    expect(generated().lua).not.toContain('local shared')
  })
})

describe('a script is refused when', () => {
  test('it has no header', () => {
    expect(refusal(['return 1'])).toEqual([expect.stringMatching(/^1: .*must begin with a header/)])
  })

  test('its header has no sentence or no Returns', () => {
    expect(refusal(['--[[', '', '  KEYS[1]  lock  a hash', ']]', 'return KEYS[1]'])).toEqual([
      expect.stringMatching(/^2: .*must begin with a sentence/),
      expect.stringMatching(/^4: .*must end with "Returns"/),
    ])
  })

  test('a declaration lacks its name or its description', () => {
    expect(refusal(script(['  KEYS[1]  lock', '  ARGV[1]'], []))).toEqual([
      expect.stringMatching(/^4: a declaration reads/),
      expect.stringMatching(/^5: a declaration reads/),
    ])
  })

  test('it declares what it does not use', () => {
    expect(
      refusal(script(['  KEYS[1]  lock  a hash', '  ARGV[1]  owner  who'], ['f(KEYS[1])'])),
    ).toEqual(['5: ARGV[1] "owner" is declared in the header but not used'])
    expect(refusal(script(['  KEYS[*]  locks  hashes'], ['f(KEYS[1])']))).toEqual([
      '9: KEYS[1] is used but not declared in the header',
      '4: KEYS[*] "locks" is declared in the header but not used',
    ])
  })

  test('it uses what it does not declare', () => {
    expect(
      refusal(script(['  KEYS[1]  lock  a hash'], ['f(KEYS[1])', 'f(ARGV[1], KEYS[i])'])),
    ).toEqual([
      '10: KEYS[*] is used but not declared in the header',
      '10: ARGV[1] is used but not declared in the header',
    ])
  })

  test('its indices have gaps, or the rest is not last', () => {
    expect(refusal(script(['  KEYS[2]  lock  a hash'], ['f(KEYS[2])']))).toEqual([
      '4: KEYS[2] is out of order: expected KEYS[1] here',
    ])
    const declarations = ['  ARGV[*]  owners  each', '  ARGV[2]  leaseMs  in milliseconds']
    expect(refusal(script(declarations, ['f(#ARGV, ARGV[2])']))).toEqual([
      '4: ARGV[*] is out of order: expected ARGV[*] last here',
    ])
  })

  test('two of its names are the same', () => {
    const declarations = ['  KEYS[1]  lock  a hash', '  ARGV[1]  lock  again']
    expect(refusal(script(declarations, ['f(KEYS[1], ARGV[1])']))).toEqual([
      '5: the name "lock" is taken by line 4',
    ])
  })
})

describe('--check', () => {
  test('accepts a module that is up to date', () => {
    write('take.lua', good)
    generate()
    expect(generate('--check').status).toBe(0)
  })

  test('refuses a module that is stale or missing, and leaves it alone', () => {
    write('take.lua', good)
    expect(generate('--check')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('npm run lua'),
    })

    generate()
    const before = readFileSync(output, 'utf8')
    write('take.lua', [...good, '-- changed'])
    expect(generate('--check').status).toBe(1)
    expect(readFileSync(output, 'utf8')).toBe(before)
  })
})

describe('the page that quotes the headers', () => {
  const quoter = resolve(__dirname, '../../scripts/quote-lua-headers.mjs')
  const page = () => join(dir, 'scripts.md')

  function quote(...options: string[]) {
    const args = [quoter, ...options, join(dir, 'lua'), page()]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    return { status, stderr }
  }

  test('has them word for word', () => {
    write('take.lua', good)
    writeFileSync(page(), '# Scripts\n\n## `take`\n\n```text\nold\n```\n\nMore.\n')
    expect(quote()).toEqual({ status: 0, stderr: '' })
    const text = readFileSync(page(), 'utf8')
    expect(text).toMatch(
      /^# Scripts\n\n## `take`\n\n```text\nDoes something\.\n[^`]+\n```\n\nMore\.\n$/,
    )
    expect(text).toContain('\nKEYS[1]  lock     hash: owner -> hold count\n')
    expect(quote('--check').status).toBe(0)
  })

  test('is refused by --check when it is stale, and left alone', () => {
    write('take.lua', good)
    const stale = '# Scripts\n\n## `take`\n\n```text\nold\n```\n'
    writeFileSync(page(), stale)
    expect(quote('--check')).toEqual({
      status: 1,
      stderr: expect.stringContaining('npm run lua'),
    })
    expect(readFileSync(page(), 'utf8')).toBe(stale)
  })
})
