import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const generator = resolve(__dirname, '../../scripts/build-lua.mjs')
const reading = resolve(__dirname, '../../src/servers/redis/scripts/reading.ts')

let dir: string
let output: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-lua-'))
  output = join(dir, 'scripts/lock.generated.ts')
  mkdirSync(join(dir, 'lua/lock'), { recursive: true })
  mkdirSync(join(dir, 'scripts'))
  copyFileSync(reading, join(dir, 'scripts/reading.ts'))
})

afterEach(() => rmSync(dir, { recursive: true }))

function write(file: string, lines: string[]) {
  const path = file.startsWith('parts/') ? file : `lock/${file}`
  writeFileSync(join(dir, 'lua', path), `${lines.join('\n')}\n`)
}

function generate(...options: string[]) {
  const args = [generator, ...options, join(dir, 'lua'), join(dir, 'scripts')]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Returns a script with these declarations, which begin in line 4, and this code. */
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

/** Returns the error of the generator for a script that it refuses. */
function refusal(lines: string[]) {
  write('bad.lua', lines)
  const { status, stderr } = generate()
  expect(status).toBe(1)
  return stderr
    .trim()
    .split('\n')
    .map((text) => text.replace(/^.*bad\.lua:/, ''))
}

describe('a valid script', () => {
  test('a script becomes an export with its names in order, its hash and its source without comments', async () => {
    const code = ['', '-- One.', "local s = '-- two'", 'do', '  -- three', '  s = 4 -- five', 'end']
    write('take-it.lua', [...good, ...code])
    expect(generate()).toMatchObject({ status: 0, stderr: '' })

    const source = readFileSync(join(dir, 'lua/lock/take-it.lua'), 'utf8')
      .replace(/^--\[\[[\s\S]*?\]\]\n/, '')
      .replace(/^$\n|^-- One\.\n|^ {2}-- three\n/gm, '')
    expect(source).toMatch(/local s = '-- two'\ndo\n {2}s = 4 -- five\nend\n$/)
    const { takeIt } = await import(output)
    expect(takeIt.script).toEqual({
      name: 'lock/take-it',
      keys: ['lock'],
      args: ['leaseMs'],
      sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
      source,
    })
    expect(readFileSync(output, 'utf8')).toMatch(/^\/\/ Generated .* Do not edit\.\n/)
  })

  test('a script may have any number of keys and arguments', async () => {
    const declarations = [
      '  KEYS[*]  locks    hashes',
      '  ARGV[1]  leaseMs  in milliseconds',
      '  ARGV[*]  owners   one for each lock',
    ]
    write('all.lua', script(declarations, ['for i = 1, #KEYS do f(ARGV[1], ARGV[i + 1]) end']))
    expect(generate()).toMatchObject({ status: 0, stderr: '' })

    const { all } = await import(output)
    expect(all.script).toMatchObject({ keys: ['locks'], args: ['leaseMs', 'owners'] })
    expect(all.keysOf({ locks: ['a', 'b'] })).toEqual(['a', 'b'])
  })

  test('comments and strings of a script may mention undeclared keys', () => {
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

  /** Returns what the generator makes of `take.lua`. */
  function generated() {
    expect(generate()).toMatchObject({ status: 0, stderr: '' })
    const source = readFileSync(output, 'utf8')
    const text = source.slice(source.indexOf('export const take:'))
    const [, sha1] = /^ {4}sha1: "(.*)",$/m.exec(text) ?? []
    const [, lua] = /^ {4}source: (".*"),$/m.exec(text) ?? []
    return { source, sha1, lua: JSON.parse(lua ?? 'null') as unknown }
  }

  test('an included part replaces the line that names it, and counts in the hash', () => {
    part('local function f() return "$&" end', '', '')
    write('take.lua', including('return f()'))
    const { sha1, lua } = generated()
    expect(lua).toBe(
      [
        ...good.slice(good.indexOf(']]') + 1),
        'local function f() return "$&" end',
        'return f()',
        '',
      ].join('\n'),
    )
    expect(sha1).toBe(createHash('sha1').update(String(lua)).digest('hex'))
  })

  test('a shared part is put into every script that names it, and is not exported', () => {
    part('local shared = 1')
    write('take.lua', including())
    write('give.lua', including())
    const { source } = generated()
    expect(source.match(/local shared = 1/g)).toHaveLength(2)
    expect(source.match(/^export const \w+/gm)).toEqual(['export const give', 'export const take'])
  })

  test('a changed part changes the hash, and `--check` then fails', () => {
    part('local shared = 1')
    write('take.lua', including())
    const { sha1 } = generated()
    expect(generate('--check').status).toBe(0)
    part('local shared = 2')
    expect(generate('--check').status).toBe(1)
    expect(generated().sha1).not.toBe(sha1)
  })

  test('a part that does not exist is an error', () => {
    expect(refusal(including())).toEqual([
      '1: "-- include: parts/shared.lua" names a file that is not there',
    ])
  })

  test('a part is included only by a line of its own', () => {
    part('local shared = 1')
    write('take.lua', [...good, '-- see -- include: parts/shared.lua', '--  include: parts/x.lua'])
    expect(generated().lua).not.toContain('local shared')
  })
})

describe('an invalid script', () => {
  test('a script without a header is refused', () => {
    expect(refusal(['return 1'])).toEqual([expect.stringMatching(/^1: .*must begin with a header/)])
  })

  test('a header without a sentence or without Returns is refused', () => {
    expect(refusal(['--[[', '', '  KEYS[1]  lock  a hash', ']]', 'return KEYS[1]'])).toEqual([
      expect.stringMatching(/^2: .*must begin with a sentence/),
      expect.stringMatching(/^4: .*must end with "Returns"/),
    ])
  })

  test('a declaration without a name or a description is refused', () => {
    expect(refusal(script(['  KEYS[1]  lock', '  ARGV[1]'], []))).toEqual([
      expect.stringMatching(/^4: a declaration reads/),
      expect.stringMatching(/^5: a declaration reads/),
    ])
  })

  test('a declared key or argument that the code does not use is refused', () => {
    expect(
      refusal(script(['  KEYS[1]  lock  a hash', '  ARGV[1]  owner  who'], ['f(KEYS[1])'])),
    ).toEqual(['5: ARGV[1] "owner" is declared in the header but not used'])
    expect(refusal(script(['  KEYS[*]  locks  hashes'], ['f(KEYS[1])']))).toEqual([
      '9: KEYS[1] is used but not declared in the header',
      '4: KEYS[*] "locks" is declared in the header but not used',
    ])
  })

  test('a key or argument that the code uses without a declaration is refused', () => {
    expect(
      refusal(script(['  KEYS[1]  lock  a hash'], ['f(KEYS[1])', 'f(ARGV[1], KEYS[i])'])),
    ).toEqual([
      '10: KEYS[*] is used but not declared in the header',
      '10: ARGV[1] is used but not declared in the header',
    ])
  })

  test('indices with a gap, or with a rest that is not last, are refused', () => {
    expect(refusal(script(['  KEYS[2]  lock  a hash'], ['f(KEYS[2])']))).toEqual([
      '4: KEYS[2] is out of order: expected KEYS[1] here',
    ])
    const declarations = ['  ARGV[*]  owners  each', '  ARGV[2]  leaseMs  in milliseconds']
    expect(refusal(script(declarations, ['f(#ARGV, ARGV[2])']))).toEqual([
      '4: ARGV[*] is out of order: expected ARGV[*] last here',
    ])
  })

  test('two declarations with the same name are refused', () => {
    const declarations = ['  KEYS[1]  lock  a hash', '  ARGV[1]  lock  again']
    expect(refusal(script(declarations, ['f(KEYS[1], ARGV[1])']))).toEqual([
      '5: the name "lock" is taken by line 4',
    ])
  })
})

describe('the declarations of a header', () => {
  /** Returns a script with one argument and these answers, which begin in line 7. */
  const answering = (argument: string, answers: string[], code = 'return ARGV[1]') => [
    '--[[',
    '  Does something.',
    '',
    `  ARGV[1]  ${argument}`,
    '',
    '  Returns',
    ...answers.map((answer) => `    ${answer}`),
    ']]',
    code,
  ]

  test('a binding has a function that orders the arguments and a function that reads the answer', async () => {
    write(
      'take.lua',
      answering(
        'waits=3  how often',
        ["{ 'taken', token >= 1, rest = 0 }  it is taken", "{ 'free' }  it is not"],
        "return { ARGV[1] and 'taken' or 'free', 1 }",
      ),
    )
    expect(generate()).toMatchObject({ status: 0, stderr: '' })
    const { argsOf, read } = (await import(output)).take
    expect([argsOf({}), argsOf({ waits: 3 }), argsOf({ waits: 4 })]).toEqual([[], [], [4]])
    expect(read(['taken', '5'])).toEqual({ kind: 'taken', token: 5, rest: 0 })
    expect(() => read(['taken', 0])).toThrow(TypeError)
    expect(() => read(['free', 1])).toThrow(TypeError)
  })

  test('a module is stale if the header declares other arguments or answers', () => {
    write(
      'take.lua',
      answering('waits  number: how often', ["{ 'taken', token >= 1 }"], "f(ARGV[1], 'taken')"),
    )
    generate()
    for (const [argument, answer] of [
      ['waits  text: how often', 'token >= 1'],
      ['wait  number: how often', 'token >= 1'],
      ['waits?  number: how often', 'token >= 1'],
      ['waits  number: how often', 'token >= 0'],
      ['waits  number: how often', 'tokens >= 1'],
    ]) {
      write(
        'take.lua',
        answering(String(argument), [`{ 'taken', ${answer} }`], "f(ARGV[1], 'taken')"),
      )
      expect(generate('--check').status).toBe(1)
    }
  })

  test.each([
    [
      'an unknown type of an argument',
      ['number or so: how often'],
      "{ 'taken' }",
      '4: "number or so" is no type of an argument',
    ],
    ['an invalid name of a field', ['how often'], "{ 'taken', Token }", '7: "Token" is no field'],
    [
      'an unknown type of a field',
      ['how often'],
      "{ 'taken', token: string }",
      '7: "string" is no type of a field',
    ],
    [
      'an optional field before another field',
      ['how often'],
      "{ 'taken', rest = 0, token }",
      '7: only the last field can be left out, which "rest" is not',
    ],
    [
      'an answer without a closing brace',
      ['how often'],
      "{ 'taken', token",
      '7: an answer reads "{ \'word\', field, field }"',
    ],
    [
      'an answer that the code does not give',
      ['how often'],
      "{ 'given' }",
      "1: the answer 'given' is declared in the header but not given",
    ],
    [
      'a late answer without a time',
      ['how often'],
      "{ 'late', serverTimeUs >= 1 }",
      '1: "notAfterUs" and the answer { \'late\', serverTimeUs >= 1 } go together',
    ],
    [
      'the answers of an unknown script',
      ['how often'],
      'what `lock/give` returns, or',
      '7: "lock/give" is no script whose answers are declared',
    ],
  ])('a header is refused with %s', (_, [description], answer, problem) => {
    expect(
      refusal(answering(`waits  ${description}`, [answer], "f(ARGV[1], 'taken', 'late')")),
    ).toEqual([problem])
  })

  test('words among the answers are refused, and a required argument after an optional argument', () => {
    expect(
      refusal(answering('waits  how often', ["{ 'taken' }", 'or not'], "f(ARGV[1], 'taken')")),
    ).toEqual(['7: each line below "Returns" declares an answer, or none of them does'])
    const declarations = ['  ARGV[1]  token?  number: which', '  ARGV[2]  waits  how often']
    expect(refusal(script(declarations, ['f(ARGV[1], ARGV[2])']))).toEqual([
      '5: "waits" cannot follow "token", which may be left out',
    ])
  })

  test('the module of a folder that no longer exists fails `--check`, and is deleted', () => {
    write('take.lua', good)
    generate()
    writeFileSync(join(dir, 'scripts/old.generated.ts'), '')
    expect(generate('--check').status).toBe(1)
    expect(generate().status).toBe(0)
    expect(readdirSync(join(dir, 'scripts')).sort()).toEqual(['lock.generated.ts', 'reading.ts'])
  })
})

describe('--check', () => {
  test('`--check` accepts a module that is up to date', () => {
    write('take.lua', good)
    generate()
    expect(generate('--check').status).toBe(0)
  })

  test('`--check` refuses a stale or missing module, and does not change it', () => {
    write('take.lua', good)
    expect(generate('--check')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('npm run lua'),
    })

    generate()
    const before = readFileSync(output, 'utf8')
    write('take.lua', [...good, 'local changed'])
    expect(generate('--check').status).toBe(1)
    expect(readFileSync(output, 'utf8')).toBe(before)
  })
})

describe('the page that quotes the headers', () => {
  const quoter = resolve(__dirname, '../../scripts/quote-lua-headers.mjs')
  const page = () => join(dir, 'README.md')

  function quote(...options: string[]) {
    const args = [quoter, ...options, join(dir, 'lua'), page()]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    return { status, stderr }
  }

  test('the page quotes the headers word for word', () => {
    write('take.lua', good)
    writeFileSync(
      page(),
      '# Scripts\n\nMore.\n\n<!-- headers -->\n\n## `lock/gone`\n\n```text\nold\n```\n',
    )
    expect(quote()).toEqual({ status: 0, stderr: '' })
    const text = readFileSync(page(), 'utf8')
    expect(text).toMatch(
      /^# Scripts\n\nMore\.\n\n<!-- headers -->\n\n## `lock\/take`\n\n```text\nDoes something\.\n[^`]+\n```\n$/,
    )
    expect(text).toContain('\nKEYS[1]  lock     hash: owner -> hold count\n')
    expect(quote('--check').status).toBe(0)
  })

  test('`--check` refuses a stale page, and does not change it', () => {
    write('take.lua', good)
    const stale = '# Scripts\n\n<!-- headers -->\n\n## `lock/take`\n\n```text\nold\n```\n'
    writeFileSync(page(), stale)
    expect(quote('--check')).toEqual({
      status: 1,
      stderr: expect.stringContaining('npm run lua'),
    })
    expect(readFileSync(page(), 'utf8')).toBe(stale)
  })
})
