import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs once before the workers: finds a native server and passes its path to the workers. The script may download a
 * server into the cache of the clone. In CI, it also installs packages. Without a server the run fails, so that no test
 * is skipped silently.
 */
export default function setUp({ rootDir }: { rootDir: string }): void {
  const script = join(rootDir, 'scripts/lib/native-server.mjs')
  const args = [script, '--json', process.env.CI === 'true' ? '--install' : '--fetch']
  const { stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (!stdout) throw new Error('The tests need a native Redis or Valkey server; see above')
  const server = JSON.parse(stdout)
  Object.assign(process.env, server.env)
  process.env.HOLDFAST_REDIS_SERVER = server.path
  process.env.HOLDFAST_REDIS_VERSION = server.version
  process.env.HOLDFAST_TEST_DIR = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
}
