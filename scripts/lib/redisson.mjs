/**
 * Builds the Java process of test/interop with one release of Redisson, or finds it built.
 *
 *   node scripts/lib/redisson.mjs [line or version]…   such as 4, 3 or 3.27.2; 4 and 3 when none is given
 *
 * The result is in test/interop/java/target/<version>, outside of git. After a build, the program needs neither Maven
 * nor the network until the sources change.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestOf, filesIn } from './digest-of.mjs'

const project = fileURLToPath(new URL('../../test/interop/java', import.meta.url))
const OLDEST_JAVA = 17

/** The lines of Redisson that the suite runs on; pom.xml has the release of each. */
export const lines = ['4', '3']

/**
 * @typedef {{ version: string, classPath: string }} Redisson
 * @param {string} wanted a line, or a release
 * @returns {Redisson}
 */
export function ensureRedisson(wanted) {
  const pom = readFileSync(join(project, 'pom.xml'), 'utf8')
  const version = lines.includes(wanted) ? releaseOf(wanted, pom) : wanted
  const target = join(project, 'target', version)
  const classPath = [join(target, 'classes'), join(target, 'lib', '*')].join(delimiter)
  const stamp = join(target, 'built')
  const print = fingerprint(pom)
  const isBuilt = existsSync(stamp) && readFileSync(stamp, 'utf8') === print
  assertInstalled(isBuilt ? ['java'] : ['java', 'javac', 'mvn'])
  if (isBuilt) return { version, classPath }

  console.log(`Building the Java side with Redisson ${version} …`)
  rmSync(target, { recursive: true, force: true })
  const goals = ['compiler:compile', 'dependency:copy-dependencies']
  const { status, stdout, stderr } = spawnSync(
    'mvn',
    ['-B', '-q', '-Dstyle.color=never', `-Dredisson.version=${version}`, ...goals],
    {
      cwd: project,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    },
  )
  if (status !== 0) {
    throw new Error(`Maven did not build it with Redisson ${version}:\n${stdout}${stderr}`)
  }
  writeFileSync(stamp, print)
  return { version, classPath }
}

function releaseOf(line, pom) {
  const profile = new RegExp(`<id>redisson-${line}</id>[\\s\\S]*?<redisson.version>([^<]+)<`)
  const release = profile.exec(pom)?.[1]
  if (release === undefined) throw new Error(`pom.xml has no profile redisson-${line}`)
  return release
}

/** A hash of all files from which the build is made. */
function fingerprint(pom) {
  const sources = digestOf(project, filesIn(project, ['src']))
  return createHash('sha256').update(pom).update(sources).digest('hex')
}

/** Throws an error that says what to install, if one of the programs is missing or too old. */
function assertInstalled(programs) {
  const missing = programs.filter((program) => {
    const { status, stdout } = spawnSync(program, [program === 'mvn' ? '-v' : '--version'], {
      encoding: 'utf8',
      shell: process.platform === 'win32',
    })
    const major = /(?:openjdk|java|javac) (\d+)/i.exec(stdout ?? '')?.[1]
    return status !== 0 || (program !== 'mvn' && Number(major) < OLDEST_JAVA)
  })
  if (missing.length === 0) return
  throw new Error(
    [
      `The interop tests run Redisson in a JVM. Not found, or too old: ${missing.join(', ')}.`,
      `They need a JDK ${OLDEST_JAVA} or later and Maven 3.8 or later. Type:  ${lineToType()}`,
    ].join('\n'),
  )
}

function lineToType() {
  if (process.platform === 'darwin') return 'brew install openjdk maven'
  if (process.platform === 'win32')
    return 'winget install EclipseAdoptium.Temurin.21.JDK   (and Maven from maven.apache.org)'
  if (existsSync('/sbin/apk')) return 'sudo apk add openjdk17 maven'
  if (existsSync('/usr/bin/dnf')) return 'sudo dnf install java-17-openjdk-devel maven'
  return 'sudo apt-get install openjdk-17-jdk-headless maven'
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const wanted = process.argv.slice(2)
  try {
    for (const each of wanted.length > 0 ? wanted : lines) {
      console.log(`Redisson ${ensureRedisson(each).version} is ready`)
    }
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
