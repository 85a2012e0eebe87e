import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** Folders that are not copied: the copy has a link to them, builds them itself, or does not need them. */
const LEFT_OUT = new Set(['node_modules', '.cache', '.git', 'dist', 'coverage', 'target'])

/** What scripts/build.mjs writes into `.cache`. */
const BUILT = new Set(['modules', 'built-from'])

const SCRIPTS = 'src/servers/redis/scripts'
const ADMIN_SCRIPTS = 'tools/inspection/redis/scripts.generated.ts'

/** A copy of the tree, in which one mistake at a time is made. Large folders that never change are links. */
export class Copy {
  #tree
  #generated
  #isBuilt = false

  /**
   * @param {string} tree
   * @param {string} work the folder in which the copy is made
   * @param {number} n the number of the copy; copies with different numbers use different ports
   */
  constructor(tree, work, n) {
    this.#tree = tree
    this.n = n
    this.root = join(work, `copy-${n + 1}`)
    this.results = join(work, `results-${n + 1}.json`)
    const filter = (path) =>
      !relative(tree, path)
        .split(sep)
        .some((part) => LEFT_OUT.has(part))
    cpSync(tree, this.root, { recursive: true, filter })
    symlinkSync(join(tree, 'node_modules'), join(this.root, 'node_modules'))
    // Each copy has its own build.
    mkdirSync(join(this.root, '.cache'))
    for (const name of readdirSync(join(tree, '.cache'))) {
      if (BUILT.has(name)) continue
      symlinkSync(join(tree, '.cache', name), join(this.root, '.cache', name))
    }
    this.#generated = readdirSync(join(this.root, SCRIPTS))
      .filter((name) => name.endsWith('.generated.ts'))
      .map((name) => `${SCRIPTS}/${name}`)
      .concat(ADMIN_SCRIPTS)
      .map((file) => [file, this.#read(file)])
  }

  /** @returns {boolean} false if the text of the mutant does not occur exactly once */
  mutate({ file, search, replace }) {
    const text = this.#read(file)
    if (text.split(search).length !== 2) return false
    this.#write(
      file,
      text.replace(search, () => replace),
    )
    this.#isBuilt = false
    return true
  }

  restore({ file }) {
    this.#write(file, readFileSync(join(this.#tree, file), 'utf8'))
    if (file.startsWith('lua/'))
      for (const [module, text] of this.#generated) this.#write(module, text)
    this.#isBuilt = false
  }

  /** @returns {string | undefined} the first line of the errors in the scripts, if there are errors */
  generate() {
    return wrongIn(this.#node('scripts/build-lua.mjs'))
  }

  build() {
    if (this.#isBuilt) return
    const wrong = wrongIn(this.#node('scripts/build.mjs'))
    if (wrong !== undefined) throw new Error(wrong)
    this.#isBuilt = true
  }

  /** @returns {string[]} what the compiler reports, one line for each error */
  typeErrors() {
    const tsc = join(this.#tree, 'node_modules/typescript/bin/tsc')
    const info = `${this.results}.tsbuildinfo`
    const { status, stdout } = this.#node(
      tsc,
      '--noEmit',
      '--incremental',
      '--tsBuildInfoFile',
      info,
    )
    return status === 0 ? [] : stdout.trim().split('\n')
  }

  #node(...args) {
    return spawnSync(process.execPath, args, { cwd: this.root, encoding: 'utf8' })
  }

  #read(file) {
    return readFileSync(join(this.root, file), 'utf8')
  }

  #write(file, text) {
    writeFileSync(join(this.root, file), text)
  }
}

function wrongIn({ status, stdout, stderr }) {
  return status === 0 ? undefined : `${stdout}${stderr}`.trim().split('\n')[0]
}
