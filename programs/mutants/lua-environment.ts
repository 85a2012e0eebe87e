import Environment from '../../test/support/environment.ts'

interface Block {
  readonly name: string
  readonly parent?: Block
}

interface Event {
  readonly name: string
  readonly test?: { readonly parent: Block; readonly errors: unknown[]; mode?: string | null }
}

/** Skips the remaining tests of a mistake after one test has found it. */
class BatchEnvironment extends Environment {
  readonly #found = new Set<string>()

  override handleTestEvent(
    event: Event,
    state: Parameters<Environment['handleTestEvent']>[1],
  ): void {
    if (event.test !== undefined) {
      const mistake = mistakeOf(event.test.parent)
      if (event.name === 'test_start' && this.#found.has(mistake)) event.test.mode = 'skip'
      if (event.name === 'test_done' && event.test.errors.length > 0) this.#found.add(mistake)
    }
    super.handleTestEvent(event, state)
  }
}

/** The name of the second outermost block, because the outermost block is the file. */
function mistakeOf(block: Block): string {
  return block.parent?.parent === undefined ? block.name : mistakeOf(block.parent)
}

// biome-ignore lint/style/noDefaultExport: Jest takes the environment from there.
export default BatchEnvironment
