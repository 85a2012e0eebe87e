import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { transformSync } from '@swc/core'
import { startChild } from '../../support/children.ts'
import { eventually } from '../../support/eventually.ts'
import { sharedServer } from '../../support/redis-server.ts'
import { read, readPage, root } from './pages.ts'

const FOLDER = 'examples/nestjs'

const server = sharedServer()
const isHeld = async () => (await server.admin.exists('order:1001')) === 1
let dir: string

/** Compiles the example like a build of NestJS, because JavaScript has no decorators yet. */
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-nestjs-'))
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(root, join(dir, 'node_modules/holdfast'))
  for (const name of ['ioredis', '@nestjs', 'reflect-metadata', 'rxjs']) {
    symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name))
  }
  for (const file of readdirSync(join(root, FOLDER))) {
    const { code } = transformSync(read(`${FOLDER}/${file}`), {
      filename: file,
      jsc: {
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
        target: 'es2022',
      },
      module: { type: 'es6' },
    })
    const script = file.replace(/ts$/, 'js')
    writeFileSync(join(dir, script), code.replaceAll(/(from (["'])\.\/\w+)\.ts\2/g, '$1.js$2'))
  }
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('the page shows the example unchanged', () => {
  const shown = readPage('docs/how-to/shut-down.md').blocks.map(({ body }) => body.trim())
  for (const file of readdirSync(join(root, FOLDER))) {
    expect(shown).toContain(read(`${FOLDER}/${file}`).trim())
  }
})

describe('a service on NestJS that receives SIGTERM', () => {
  const start = async (env: Record<string, string> = {}) => {
    const service = startChild(join(dir, 'main.js'), { env: { REDIS_URL: server.url, ...env } })
    expect(await service.next()).toBe('ready')
    await eventually(isHeld)
    // The server has granted the lock. Waits until the answer has reached the service.
    await pause(150)
    return service
  }

  test('the service finishes its work under a lock, and releases the lock', async () => {
    const service = await start()
    service.kill('SIGTERM')
    expect(await service.next()).toBe('shipped 1001')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(service.errors).toBe('')
    expect(await isHeld()).toBe(false)
  })

  test('the service cuts off work that takes too long, releases the lock, and reports the work', async () => {
    const service = await start({ DRAIN_MS: '50' })
    service.kill('SIGTERM')
    await service.exited
    expect(service.errors).toMatch(/The work under "order:1001" \(token \d+\) was not finished/)
    expect(service.all).not.toContain('shipped 1001')
    expect(await isHeld()).toBe(false)
  })
})

test('the test of the example runs with locks in memory', async () => {
  const child = startChild(join(dir, 'orders.test.js'), {
    env: { REDIS_URL: 'redis://127.0.0.1:1' },
  })
  expect(await child.exited).toEqual({ code: 0, signal: null })
  expect(child.all).toContain('# pass 1')
})
