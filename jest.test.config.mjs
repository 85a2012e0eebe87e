import base from './jest.config.mjs'
import { FAULTS } from './jest.faults.config.mjs'

/** `npm test`: all but the tests that `npm run test:faults` has. */
export default {
  ...base,
  testPathIgnorePatterns: [...base.testPathIgnorePatterns, ...FAULTS],
  globals: { holdfastWorlds: 'usual' },
}
