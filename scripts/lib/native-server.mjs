#!/usr/bin/env node
/**
 * Finds a native valkey-server or redis-server for tests, benchmarks and the demo, or gets one.
 *
 *   node scripts/lib/native-server.mjs            find it; else fetch it, or install it with the system's packages
 *   node scripts/lib/native-server.mjs --fetch    find it; else unpack it into .cache of this clone; installs nothing
 *   node scripts/lib/native-server.mjs --find     find it, or fail
 *   node scripts/lib/native-server.mjs --waitaof  find or fetch a server that has WAITAOF: 7.2 or later
 *   … --json                                  print the result as JSON
 *
 * With HOLDFAST_REDIS_SERVER=/path/to/server, it uses this server; with =fetched, only the server in .cache.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST = [6, 2]
const CACHE = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), '.cache')
const FETCHED = join(CACHE, 'redis-server')
const FETCHED_VALKEY = join(CACHE, 'valkey-server')
/** The oldest version that has WAITAOF. */
const WAITAOF = [7, 2]
const USUAL_FOLDERS = ['/usr/local/bin', '/opt/homebrew/bin', '/usr/bin']

/** @typedef {{ path: string, env: Record<string, string>, version: string, kind: 'redis' | 'valkey' }} NativeServer */

const say = (/** @type {string} */ line) => process.stderr.write(`${line}\n`)
const isRoot = () => process.getuid?.() === 0

/**
 * The server of this machine, or of the clone's cache; null if neither has a server that is new enough.
 * @returns {NativeServer | null}
 */
export function findServer() {
  const wish = process.env.HOLDFAST_REDIS_SERVER
  if (wish && wish !== 'fetched') {
    const server = inspect(wish)
    if (server) return server
    throw new Error(`HOLDFAST_REDIS_SERVER=${wish} is no Redis or Valkey server of 6.2 or later`)
  }
  const folders = wish ? [] : [...(process.env.PATH ?? '').split(':'), ...USUAL_FOLDERS]
  const names = ['valkey-server', 'redis-server']
  const paths = names.flatMap((name) => folders.filter(Boolean).map((dir) => join(dir, name)))
  for (const path of new Set([...paths, join(FETCHED, 'redis-server')])) {
    const server = isProgram(path) ? inspect(path) : null
    if (server) return server
  }
  return null
}

/**
 * Finds, fetches or installs a server, and prints its steps. `fetch` allows writes into the clone's `.cache`, and
 * `install` allows changes of the system. If it gets no server, it throws an error with the command to type.
 * @returns {NativeServer}
 */
export function ensureServer({ fetch = true, install = true } = {}) {
  const found = findServer()
  if (found) return found
  const reasons = []
  if (fetch && hasProgram('apt-get') && hasProgram('dpkg-deb')) {
    try {
      fetchWithApt()
      const fetched = findServer()
      if (fetched) return fetched
    } catch (error) {
      reasons.push(messageOf(error))
    }
  }
  if (install && installWithPackageManager(reasons)) {
    const installed = findServer()
    if (installed) return installed
  }
  throw new Error(
    [
      'No valkey-server or redis-server 6.2 or later was found.',
      ...reasons,
      `Type:  ${lineToType()}`,
      '(or set HOLDFAST_REDIS_SERVER=/path/to/redis-server)',
    ].join('\n'),
  )
}

/**
 * A server that has WAITAOF: the server of the machine, or else Valkey from the backports of Debian, unpacked into
 * .cache. Throws an error with the reason if there is no such server.
 * @returns {NativeServer}
 */
export function ensureWaitaof() {
  const wish = process.env.HOLDFAST_VALKEY_SERVER
  const paths = [wish, findServer()?.path, join(FETCHED_VALKEY, 'redis-server')].filter(Boolean)
  for (const path of paths) {
    const server = isProgram(path) ? inspect(path) : null
    if (server && isAtLeast(server.version, WAITAOF)) return server
  }
  if (!hasProgram('apt-get') || !hasProgram('dpkg-deb')) {
    throw new Error(
      'No server of 7.2 or later was found (or set HOLDFAST_VALKEY_SERVER=/path/to/valkey-server)',
    )
  }
  mkdirSync(CACHE, { recursive: true })
  const work = mkdtempSync(join(CACHE, 'fetch-'))
  try {
    const folder = join(work, 'valkey')
    say(`Fetching valkey-server with apt-get into ${FETCHED_VALKEY} (nothing is installed) …`)
    unpackServer(aptGet(work, withBackports(work)), folder, 'valkey')
    publish(folder, FETCHED_VALKEY)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return inspect(join(FETCHED_VALKEY, 'redis-server')) ?? ensureWaitaof()
}

/** Options of apt-get for copies of the machine's package sources, to which the backports are added. */
function withBackports(work) {
  const folder = join(work, 'sources')
  mkdirSync(folder)
  const name = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? ''
  const given = ['/etc/apt/sources.list', ...filesIn('/etc/apt/sources.list.d')].filter(existsSync)
  for (const file of given) {
    const blocks = readFileSync(file, 'utf8').split(/\n\s*\n/)
    // A source is one line or a block. Only the main archive of the release has backports.
    const backports = blocks
      .filter((one) => new RegExp(`^Suites:.*\\b${name}(\\s|$)`, 'm').test(one))
      .map((one) => one.replace(/^Suites:.*$/m, `Suites: ${name}-backports`))
    const lines = blocks
      .flatMap((one) => one.split('\n'))
      .filter((one) => new RegExp(`^deb\\s.*\\s${name}\\s`).test(one))
      .map((one) => one.replace(` ${name} `, ` ${name}-backports `))
    const all = file.endsWith('.sources') ? [...blocks, ...backports] : [...blocks, ...lines]
    writeFileSync(join(folder, basename(file)), `${all.join('\n\n')}\n`)
  }
  const list = join(folder, 'sources.list')
  return ['-o', `Dir::Etc::sourcelist=${list}`, '-o', `Dir::Etc::sourceparts=${folder}`]
}

const filesIn = (folder) =>
  existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []

/** @param {string} version @param {readonly number[]} least */
function isAtLeast(version, [major, minor]) {
  const [ours, second] = version.split('.').map(Number)
  return ours > major || (ours === major && second >= minor)
}

/** @returns {NativeServer | null} */
function inspect(path) {
  const text = output(path, ['--version'])
  const match = /(redis|valkey) server v=(\d+)\.(\d+)\.(\d+)/i.exec(text ?? '')
  if (!match) return null
  const [, name, major, minor, patch] = match
  const version = `${major}.${minor}.${patch}`
  if (!isAtLeast(version, OLDEST)) {
    say(`${path} is version ${version}, older than ${OLDEST.join('.')}: passed over`)
    return null
  }
  return { path, env: {}, version, kind: /valkey/i.test(name) ? 'valkey' : 'redis' }
}

/**
 * Works on Debian and Ubuntu, with and without root rights. It unpacks the packages without an installation, so no
 * service starts and nothing outside of `.cache` changes.
 */
function fetchWithApt() {
  mkdirSync(CACHE, { recursive: true })
  const work = mkdtempSync(join(CACHE, 'fetch-'))
  try {
    const apt = aptGet(work)
    const problems = []
    for (const kind of ['redis', 'valkey']) {
      const folder = join(work, kind)
      try {
        say(`Fetching ${kind}-server with apt-get into ${FETCHED} (nothing is installed) …`)
        unpackServer(apt, folder, kind)
        if (!inspect(join(folder, 'redis-server'))) {
          throw new Error(`the distribution's ${kind}-server does not run or is older than 6.2`)
        }
        publish(folder)
        return
      } catch (error) {
        problems.push(`apt-get, ${kind}: ${messageOf(error)}`)
      }
    }
    throw new Error(problems.join('\n'))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Downloads packages one by one. If the system has no package lists, apt-get reads them into a private folder. */
function aptGet(work, sources = []) {
  let options = [...sources, ...(isRoot() ? ['-o', 'APT::Sandbox::User=root'] : [])]
  let isUpdated = false
  const download = (name, cwd, { isGuess = false } = {}) => {
    try {
      run('apt-get', ['-q', ...options, 'download', name], cwd)
    } catch (error) {
      if (isUpdated || (isGuess && /unable to locate/i.test(messageOf(error)))) throw error
      isUpdated = true
      say(`apt-get has no usable list for ${name}: reading the lists into a private folder …`)
      const lists = join(work, 'lists')
      mkdirSync(join(lists, 'partial'), { recursive: true })
      mkdirSync(join(work, 'archives', 'partial'), { recursive: true })
      options = [...options, '-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${work}`]
      run('apt-get', ['-q', ...options, 'update'], cwd)
      run('apt-get', ['-q', ...options, 'download', name], cwd)
    }
  }
  return { download }
}

function unpackServer(apt, folder, kind) {
  const root = join(folder, 'root')
  mkdirSync(root, { recursive: true })
  const add = (name, options) => {
    apt.download(name, folder, options)
    for (const file of readdirSync(folder).filter((entry) => entry.endsWith('.deb'))) {
      run('dpkg-deb', ['-x', file, root], folder)
      rmSync(join(folder, file))
    }
  }
  add(`${kind}-server`)
  add(`${kind}-tools`)
  const program = realpathSync(join(root, 'usr', 'bin', `${kind}-server`))
  const tried = new Set()
  for (let missing = ['liblzf.so.1', 'libjemalloc.so.2', 'libatomic.so.1']; missing.length > 0; ) {
    for (const library of missing) {
      tried.add(library)
      packagesOf(library).some((name) => succeeds(() => add(name, { isGuess: true })))
    }
    missing = missingLibraries(program, libraryPath(root)).filter((name) => !tried.has(name))
  }
  const libraries = libraryPath(root).map((dir) => `$here/${relative(folder, dir)}`)
  const wrapper = [
    '#!/bin/sh',
    `here=\${0%/*}`,
    `LD_LIBRARY_PATH="${libraries.join(':')}" exec "$here/root/usr/bin/${kind}-server" "$@"`,
    '',
  ]
  writeFileSync(join(folder, 'redis-server'), wrapper.join('\n'), { mode: 0o755 })
}

/** Moves the finished folder to its place in one step. If another process was faster, its folder stays there. */
function publish(folder, to = FETCHED) {
  try {
    if (existsSync(to) && !inspect(join(to, 'redis-server')))
      rmSync(to, { recursive: true, force: true })
    renameSync(folder, to)
  } catch (error) {
    if (!existsSync(join(to, 'redis-server'))) throw error
  }
}

/** Folders with shared libraries under an unpacked root. */
function libraryPath(root) {
  const folders = new Set()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (/\.so(\.|$)/.test(entry.name)) folders.add(entry.parentPath ?? entry.path)
  }
  return [...folders]
}

function missingLibraries(program, folders) {
  const text = output('ldd', [program], { LD_LIBRARY_PATH: folders.join(':') }) ?? ''
  return [...text.matchAll(/(\S+) => not found/g)].map((match) => match[1])
}

/** Debian's names for a library's package: libssl.so.3 → libssl3 or libssl3t64, liblua5.1.so.0 → liblua5.1-0. */
function packagesOf(library) {
  const [, stem, number] = /^(.+)\.so\.(\d+)/.exec(library) ?? [undefined, library, '']
  const name = `${stem}${/\d$/.test(stem) ? '-' : ''}${number}`.toLowerCase().replaceAll('_', '-')
  const lua = /^liblua[\d.]+-(\w+)$/.exec(stem)
  return [name, `${name}t64`, ...(lua ? [`lua-${lua[1]}`] : [])]
}

/** Changes the system, so it runs only if the caller allows it. Returns true if it installed a server. */
function installWithPackageManager(reasons) {
  const manager = packageManager()
  if (!manager || manager.name === 'apt-get') return false
  if (manager.needsRoot && !isRoot()) return false
  for (const kind of ['valkey', 'redis']) {
    const args = [...manager.install, kind]
    say(`Installing: ${manager.name} ${args.join(' ')}`)
    try {
      run(manager.name, args)
      return true
    } catch (error) {
      reasons.push(`${manager.name}: ${messageOf(error)}`)
    }
  }
  return false
}

function packageManager() {
  const managers = [
    { name: 'brew', install: ['install'], needsRoot: false },
    { name: 'apk', install: ['add', '--no-cache'], needsRoot: true },
    { name: 'dnf', install: ['install', '-y'], needsRoot: true },
    { name: 'apt-get', install: ['install', '-y'], needsRoot: true },
  ]
  return managers.find(({ name }) => hasProgram(name))
}

function lineToType() {
  if (process.platform === 'win32')
    return 'wsl --install   (Redis has no Windows build; run the tests in WSL)'
  const manager = packageManager()
  if (!manager) return 'your package manager, to install redis or valkey'
  const sudo = manager.needsRoot && !isRoot() ? 'sudo ' : ''
  const name = manager.name === 'apt-get' ? 'redis-server' : 'valkey'
  return `${sudo}${manager.name} ${manager.install.join(' ')} ${name}`
}

function run(program, args, cwd) {
  try {
    execFileSync(program, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
    })
  } catch (error) {
    const text = (error.stderr || error.message).trim().split('\n').slice(-3).join(' | ')
    throw new Error(`${program} ${args.at(-1)}: ${text}`)
  }
}

/** The output of the program, or null if it cannot run or fails without output. */
function output(program, args, env = {}) {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...env },
    })
  } catch (error) {
    return typeof error.stdout === 'string' && error.stdout ? error.stdout : null
  }
}

function isProgram(path) {
  return succeeds(() => accessSync(path, constants.X_OK))
}

function hasProgram(name) {
  return (process.env.PATH ?? '').split(':').some((dir) => dir && isProgram(join(dir, name)))
}

function succeeds(action) {
  try {
    action()
    return true
  } catch {
    return false
  }
}

const messageOf = (error) => (error instanceof Error ? error.message : String(error))

let words
/** Words to put before a command. The command then ends with this process, even if this process is killed. */
export function guard() {
  words ??=
    spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0
      ? ['setpriv', '--pdeathsig', 'KILL']
      : []
  return words
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const has = (flag) => process.argv.includes(flag)
  try {
    const server = has('--waitaof')
      ? ensureWaitaof()
      : ensureServer({ fetch: !has('--find'), install: !has('--find') && !has('--fetch') })
    process.stdout.write(
      has('--json')
        ? `${JSON.stringify(server)}\n`
        : `${server.kind} ${server.version}: ${server.path}\n`,
    )
  } catch (error) {
    say(messageOf(error))
    process.exitCode = 1
  }
}
