import TestSequencer from '@jest/test-sequencer'

/** The tests of these files run in every world, so they take long even if the file is small. */
const IN_EVERY_WORLD = /\/test\/contract\//

/**
 * Begins with the files that take longest, so that no worker runs a long file alone at the end. Jest knows the times
 * from an earlier run in this clone. In a fresh clone, Jest takes the largest files first.
 */
export default class TestOrder extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => (IN_EVERY_WORLD.test(path) ? 0 : 1)
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b))
  }
}
