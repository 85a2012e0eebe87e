import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Which mutants were caught, as they and their two files are now; kept in `.cache/`. */
export class Results {
  #root
  #file
  #caught

  /** @param {string} root of the tree */
  constructor(root) {
    this.#root = root
    this.#file = join(root, '.cache/mutants.json')
    try {
      this.#caught = JSON.parse(readFileSync(this.#file, 'utf8'))
    } catch {
      this.#caught = {}
    }
  }

  /** @returns {string | undefined} the test that failed; undefined where that is not known any more */
  of(mutant) {
    const { key, title } = this.#caught[mutant.id] ?? {}
    return key === this.#keyOf(mutant) ? title : undefined
  }

  keep(mutant, { verdict, detail }) {
    if (verdict === 'caught') this.#caught[mutant.id] = { key: this.#keyOf(mutant), title: detail }
    else delete this.#caught[mutant.id]
    mkdirSync(join(this.#root, '.cache'), { recursive: true })
    writeFileSync(this.#file, JSON.stringify(this.#caught, null, 2))
  }

  #keyOf({ file, search, replace, test, name, within }) {
    const hash = createHash('sha1').update(JSON.stringify([search, replace, name, within]))
    for (const one of [file, test]) hash.update(readFileSync(join(this.#root, one)))
    return hash.digest('hex')
  }
}
