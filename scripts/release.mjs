// Publishes the package after all checks that can run on this machine.
//
//   npm run release                 checks, and shows what would be published
//   npm run release -- --publish    publishes, and tags the commit
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The fields of package.json that describe the origin of a published package. */
const FIELDS = {
  repository: 'the address of the source, such as { "type": "git", "url": "git+https://…" }',
  homepage: 'the address of the documentation',
  bugs: 'the address where bugs are reported',
  author: 'the name of the author',
}

/**
 * @param {Record<string, unknown>} manifest package.json
 * @param {string} changelog CHANGELOG.md
 * @param {string} changed what `git status --porcelain` prints
 * @returns {string[]} the reasons why the package must not be published, one sentence each
 */
export function refusals(manifest, changelog, changed) {
  const missing = Object.entries(FIELDS)
    .filter(([name]) => !manifest[name])
    .map(([name, what]) => `package.json has no "${name}": add ${what}.`)
  const { version } = manifest
  const headings = changelog.split('\n').filter((line) => line.startsWith('## '))
  const heading = headings.find((line) => line.split(/[\s[\]]+/).includes(String(version)))
  return [
    ...missing,
    ...(manifest.private ? ['package.json has "private": remove it.'] : []),
    ...(heading === undefined ? [`CHANGELOG.md has no heading "## ${version}": add it.`] : []),
    ...(changed.trim() === '' ? [] : ['The working tree has changes: commit them.']),
  ]
}

function run(program, ...args) {
  const { status } = spawnSync(program, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) exit(status ?? 1)
}

function git(...args) {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout ?? ''
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const read = (file) => readFileSync(`${root}/${file}`, 'utf8')
  const manifest = JSON.parse(read('package.json'))
  const why = refusals(manifest, read('CHANGELOG.md'), git('status', '--porcelain'))
  if (why.length > 0) {
    console.error(`Not ready to be published:\n${why.map((one) => `  - ${one}`).join('\n')}`)
    exit(1)
  }
  // `npm publish` runs `npm run check` first, and packs as `npm pack` does.
  if (argv.includes('--publish')) {
    run('npm', 'publish', '--access', 'public')
    run('git', 'tag', `v${manifest.version}`)
    console.log(`Published. Push the tag: git push origin v${manifest.version}`)
  } else {
    run('npm', 'publish', '--dry-run')
    console.log('Nothing was published. To publish: npm run release -- --publish')
  }
}
