import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { read, root } from '../repo/docs/pages.ts'

const manifest = JSON.parse(read('package.json'))
const { packages } = JSON.parse(read('package-lock.json'))

interface Ended {
  readonly code: number
  readonly text: string
}

/** Runs a script of `scripts/` until it ends. */
function run(script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((done) => {
    const options = { cwd: root, env: { ...process.env, ...env } }
    execFile(process.execPath, [join('scripts', script), ...args], options, (error, out, err) => {
      done({ code: error === null ? 0 : Number(error.code), text: out + err })
    })
  })
}

describe('sbom.cdx.json', () => {
  const list = JSON.parse(read('sbom.cdx.json'))

  test('the list has exactly the run-time dependencies, in the locked versions', () => {
    const locked = Object.keys(manifest.dependencies).map(
      (name) => `pkg:npm/${name}@${packages[`node_modules/${name}`].version}`,
    )
    const listed = list.components.map(({ purl }: { purl: string }) => purl)
    expect(listed.sort()).toEqual(locked.sort())
    expect(list.metadata.component.purl).toBe(`pkg:npm/holdfast@${manifest.version}`)
  })

  test('the list has the hash of each package from the lock file', () => {
    for (const { name, hashes } of list.components) {
      const [algorithm, base64] = packages[`node_modules/${name}`].integrity.split('-')
      const content = Buffer.from(base64, 'base64').toString('hex')
      expect(hashes).toEqual([{ alg: algorithm.replace('sha', 'SHA-'), content }])
    }
  })

  test('the list is the output of `npm run sbom`, and is in the package', async () => {
    expect(await run('sbom.mjs', ['--check'])).toMatchObject({ code: 0 })
    expect(manifest.files).toContain('sbom.cdx.json')
  })
})

describe('npm run audit', () => {
  const advisory = (name: string, vulnerable_versions: string, severity = 'low') => ({
    [name]: [
      { id: 7, url: 'https://example.com/7', title: 'A hole', severity, vulnerable_versions },
    ],
  })

  async function auditBy(status: number, advisories: object): Promise<Ended> {
    const registry: Server = createServer((request, response) => {
      request.resume()
      const isAudit = request.url?.endsWith('/advisories/bulk')
      response.writeHead(isAudit ? status : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isAudit ? advisories : {}))
    })
    await new Promise<void>((done) => registry.listen(0, '127.0.0.1', done))
    const { port } = registry.address() as AddressInfo
    const cache = mkdtempSync(join(tmpdir(), 'holdfast-npm-'))
    try {
      const npm_config_registry = `http://127.0.0.1:${port}`
      return await run('audit.mjs', [], { npm_config_registry, npm_config_cache: cache })
    } finally {
      rmSync(cache, { recursive: true, force: true })
      registry.closeAllConnections()
      await new Promise((done) => registry.close(done))
    }
  }

  test.each([
    ['a package that runs with Holdfast', advisory('nanoid', '*'), 1],
    ['a package that its peer ioredis needs', advisory('denque', '*'), 1],
    ['an older nanoid that package.json allows', advisory('nanoid', '<=3.3.18'), 1],
    ['a development package, if it is critical', advisory('publint', '*', 'critical'), 1],
    ['a development package, if it is less than critical', advisory('publint', '*', 'high'), 0],
    ['other versions of a package', advisory('nanoid', '<3.3.18'), 0],
  ])('the audit judges a vulnerability of %s', async (_, advisories, code) => {
    const ended = await auditBy(200, advisories)
    expect(ended).toMatchObject({ code, text: expect.stringContaining('By the registry: ') })
    if (code === 1) expect(ended.text).toContain('A hole https://example.com/7')
    expect(ended.text).not.toContain('NOT AUDITED')
  })

  test.each([
    ['refuses to audit', () => auditBy(405, {})],
    ['is down', () => run('audit.mjs', [], { npm_config_registry: 'http://127.0.0.1:9' })],
  ])('a registry that %s is reported, and the audit does not fail', async (_, audit) => {
    const { code, text } = await audit()
    expect(text).toContain('NOT AUDITED BY THE REGISTRY: ')
    expect(text).toContain('By the reviewed advisories: 0 vulnerable run-time packages')
    expect(code).toBe(0)
  })
})
