import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf, filesIn } from './digest-of.mjs'

/** The folders on which the tests of all mutants depend. */
const SOURCES = ['src', 'tools', 'lua', 'programs', 'test']

/** The killed mutants, stored in `.cache/`. A result is valid until the mutant, its file or its test file changes. */
export class Results {
  #root
  #file
  #known
  #tree

  /** @param {string} root of the tree */
  constructor(root) {
    this.#root = root
    this.#file = join(root, '.cache/mutants.json')
    try {
      this.#known = JSON.parse(readFileSync(this.#file, 'utf8'))
    } catch {
      this.#known = {}
    }
    this.#known = { killed: {}, passed: {}, ...this.#known }
  }

  /** @returns {string | undefined} the test that failed; undefined if the mutant is not known to be killed */
  of(mutant) {
    const { key, title } = this.#known.killed[mutant.id] ?? {}
    return key === this.#keyOf(mutant) ? title : undefined
  }

  keep(mutant, { verdict, detail }) {
    if (verdict === 'killed')
      this.#known.killed[mutant.id] = { key: this.#keyOf(mutant), title: detail }
    else delete this.#known.killed[mutant.id]
    this.#write()
  }

  forget(mutants) {
    for (const { id } of mutants) delete this.#known.killed[id]
    this.#write()
  }

  /** @returns {{ title: string, ms: number }[]} the tests of a file that passed in this tree without any mistake */
  passedIn(test) {
    const { tree, tests } = this.#known.passed[test] ?? {}
    return tree === this.#treeNow() ? tests : []
  }

  keepPassed(test, tests) {
    this.#known.passed[test] = { tree: this.#treeNow(), tests }
    this.#write()
  }

  #write() {
    mkdirSync(join(this.#root, '.cache'), { recursive: true })
    writeFileSync(this.#file, JSON.stringify(this.#known, null, 2))
  }

  #keyOf({ file, search, replace, test, name, within }) {
    const hash = createHash('sha1').update(JSON.stringify([search, replace, name, within]))
    for (const one of [file, test]) hash.update(readFileSync(join(this.#root, one)))
    return hash.digest('hex')
  }

  #treeNow() {
    this.#tree ??= digestOf(
      this.#root,
      filesIn(this.#root, SOURCES).filter((file) => !file.startsWith('programs/mutants/')),
    )
    return this.#tree
  }
}
