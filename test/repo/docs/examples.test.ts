import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from '@swc/core'
import { startChild } from '../../support/children.ts'
import { spawnDyingWithParent } from '../../support/die-with-parent.ts'
import { eventually } from '../../support/eventually.ts'
import { startMasters } from '../../support/masters.ts'
import { sharedServer } from '../../support/redis-server.ts'
import { notInstalled, takenForGranted } from './granted.ts'
import { allPages, type Block, type Page, root } from './pages.ts'

const server = sharedServer()
/** For programs that need independent servers. */
let masters = ''
beforeAll(async () => {
  masters = (await startMasters(3)).map(({ url }) => url).join(' ')
})
const pages = allPages()
const examples = pages.flatMap((page) => page.blocks.filter(isCode))
const programs = examples.filter((block) => block.flags.includes('run'))

let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-docs-'))
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(root, join(dir, 'node_modules/holdfast'))
  const names = [
    'ioredis',
    'redlock',
    'redis-semaphore',
    'redis',
    '@nestjs',
    'reflect-metadata',
    'rxjs',
    'express',
    'fastify',
    '@opentelemetry',
    'prom-client',
  ]
  for (const name of names) {
    symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name))
  }
})

// Examples may leave keys behind.
afterEach(() => server.flush())
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function isCode(block: Block): boolean {
  return block.language === 'ts' || block.language === 'js'
}

/** Returns a file name that shows the page and the line of the block. */
function fileOf(block: Block): string {
  const name = block.page.replace(/\.md$/, '').replace(/\W/g, '-')
  return `${name}-line-${block.line}.${block.language === 'ts' ? 'ts' : 'mjs'}`
}

/** Returns the next block if it shows the output of the program. */
function outputOf(program: Block): string | undefined {
  const { blocks } = pages.find((page) => page.path === program.page) as Page
  const next = blocks[blocks.indexOf(program) + 1]
  return next?.language === 'text' ? next.body : undefined
}

async function node(...args: string[]): Promise<{ code: unknown; output: string }> {
  const child = spawnDyingWithParent(process.execPath, args, {
    cwd: dir,
    env: { ...process.env, NODE_OPTIONS: '', REDIS_URL: server.url, MASTERS: masters },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), 50_000)
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  return { code: code ?? signal, output: output.trimEnd() }
}

test('the pages have examples, and some examples are programs', () => {
  expect(examples.length).toBeGreaterThan(20)
  expect(programs.length).toBeGreaterThan(5)
  expect(programs[0]?.page).toBe('README.md')
})

test('every program uses a Redis on this machine if REDIS_URL is missing', () => {
  const without = programs.filter(({ body }) =>
    /process\.env\.REDIS_URL(?! \?\? 'redis:)/.test(body),
  )
  expect(without.map(({ page, line }) => `${page}:${line}`)).toEqual([])
})

test('each code block has a known language, so that the checks cover all code', () => {
  const known = new Set(['ts', 'js', 'java', 'text', 'sh', 'sql', 'mermaid', 'lua', 'json', 'yaml'])
  const others = pages.flatMap(({ blocks }) => blocks.filter((one) => !known.has(one.language)))
  expect(others.map(({ page, line, language }) => `${page}:${line}: ${language}`)).toEqual([])
})

/** Parameters and caught errors have no types in plain JavaScript. */
const looser = {
  checkJs: true,
  allowJs: true,
  noImplicitAny: false,
  useUnknownInCatchVariables: false,
}

test.each([
  ['ts', {}],
  ['js', looser],
])('every %s example compiles', async (language, compilerOptions) => {
  const folder = join(dir, `check-${language}`)
  mkdirSync(folder)
  symlinkSync(join(dir, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        ...compilerOptions,
        noEmit: true,
        declaration: false,
        rootDir: '/',
        typeRoots: [join(root, 'node_modules/@types')],
        experimentalDecorators: true,
        paths: {
          holdfast: [join(root, 'src/index.ts')],
          'holdfast/testing': [join(root, 'src/testing.ts')],
          'holdfast/dashboard': [join(root, 'tools/dashboard/dashboard.ts')],
          'holdfast/history': [join(root, 'tools/history/history.ts')],
          'holdfast/opentelemetry': [join(root, 'src/observe/opentelemetry/opentelemetry.ts')],
          'holdfast/metrics': [join(root, 'src/observe/metrics/metrics.ts')],
        },
      },
      include: ['*.ts', '*.mjs'],
    }),
  )
  writeFileSync(join(folder, 'granted.d.ts'), takenForGranted)
  writeFileSync(join(folder, 'not-installed.d.ts'), notInstalled)
  // Some examples of the page about NestJS import this file.
  copyFileSync(join(root, 'examples/nestjs/app.ts'), join(folder, 'app.ts'))
  const some = examples.filter((block) => block.language === language)
  expect(some).not.toEqual([])
  for (const block of some) writeFileSync(join(folder, fileOf(block)), `${block.body}\n`)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  expect(await node(tsc, '-p', folder)).toEqual({ code: 0, output: '' })
})

describe('the programs of the pages', () => {
  test.each(programs.map((block) => ({ where: `${block.page}:${block.line}`, block })))(
    'the program at $where prints what its page says',
    async ({ block }) => {
      const expected = outputOf(block)
      if (expected === undefined) throw new Error('A program needs a ```text block after it')
      const file = join(dir, fileOf(block).replace(/\.ts$/, '.mjs'))
      const { code } = transformSync(block.body, {
        filename: fileOf(block),
        jsc: {
          parser: {
            syntax: 'typescript',
            explicitResourceManagement: true,
            decorators: true,
          } as never,
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2022',
        },
        module: { type: 'es6' },
      })
      writeFileSync(file, code)
      expect(await node(file)).toEqual({ code: 0, output: expected })
    },
  )
})

describe('examples/service.mjs', () => {
  const KEY = 'order:/orders/1001'
  const start = async (env: Record<string, string> = {}) => {
    const service = startChild('examples/service.mjs', {
      env: { PORT: '0', REDIS_URL: server.url, ...env },
    })
    const port = /^listening on (\d+)$/.exec(await service.next<string>())?.[1]
    const ship = async (order = '1001') => {
      const response = await fetch(`http://127.0.0.1:${port}/orders/${order}`, {
        method: 'POST',
        headers: { connection: 'close' },
      })
      return `${response.status} ${(await response.text()).replace(/\d+/, 'N').trim()}`
    }
    const isHeld = async () => (await server.admin.exists(KEY)) === 1
    return { service, ship, isHeld }
  }

  test('the service lets one of two requests work on an order, and finishes its work before it exits', async () => {
    const { service, ship, isHeld } = await start()
    const first = ship()
    const second = ship()
    const refused = await Promise.race([first, second])
    service.kill('SIGTERM')
    expect([
      refused,
      ...(await Promise.all([first, second])).filter((one) => one !== refused),
    ]).toEqual(['409 another request works on this order', '200 shipped, under the token N'])
    expect(await isHeld()).toBe(false)
    expect(await service.next()).toBe('closed')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(service.errors).toBe('')
  })

  test('the service ends waiting requests at once on SIGTERM', async () => {
    const { service, ship } = await start()
    await server.admin.hset(KEY, 'somebody:else', '1')
    let isOver = true
    let shipping: Promise<string> | undefined
    const send = () => {
      isOver = false
      shipping = ship().finally(() => {
        isOver = true
      })
    }
    const channel = `redisson_lock__channel:{${KEY}}`
    await eventually(async () => {
      // On a loaded machine, the request may have ended before the test saw that it waits.
      if (isOver) send()
      return (await server.admin.pubsub('NUMSUB', channel))[1] === 1
    })
    service.kill('SIGTERM')
    expect(await shipping).toBe('503 try again later')
    expect(await service.exited).toEqual({ code: 0, signal: null })
  })

  test('the service cuts off work that is not finished in time, releases the lock, and reports the work', async () => {
    const { service, ship, isHeld } = await start({ DRAIN_MS: '100' })
    const first = ship()
    await eventually(isHeld)
    service.kill('SIGTERM')
    expect(await first).toBe('503 try again later')
    expect(await isHeld()).toBe(false)
    expect(await service.exited).toEqual({ code: 1, signal: null })
    expect(service.errors).toMatch(
      /^the work under "order:\/orders\/1001" \(token \d+\) was not finished$/m,
    )
  })
})
