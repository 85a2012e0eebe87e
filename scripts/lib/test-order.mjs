import TestSequencer from '@jest/test-sequencer'

/** Their tests run in every world, which takes long whatever the size of the file. */
const IN_EVERY_WORLD = /\/test\/contract\//

/**
 * Begins with the files that take longest, so that no worker is left with one at the end. Jest knows that of a
 * clone that has run them before; of a fresh one it takes the largest files first.
 */
export default class TestOrder extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => (IN_EVERY_WORLD.test(path) ? 0 : 1)
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b))
  }
}
