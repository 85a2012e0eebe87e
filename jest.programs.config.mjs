import base from './jest.config.mjs'
import { workers } from './scripts/lib/workers.mjs'

/** The tests of the package, the examples, the demo, the measurements, other libraries, metrics, spans and the tools. These work more than they wait. */
export default {
  ...base,
  testMatch: [
    '<rootDir>/test/package/*.test.ts',
    '<rootDir>/test/migration/*.test.ts',
    '<rootDir>/test/upgrade/*.test.ts',
    '<rootDir>/test/{metrics,opentelemetry,history,deployment,commands,doctor,dashboard,security}/**/*.test.ts',
    '<rootDir>/test/repo/bench/*.test.ts',
    '<rootDir>/test/repo/demo.test.ts',
    '<rootDir>/test/soak/*.test.ts',
    '<rootDir>/test/repo/docs/examples*.test.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: workers(1),
}
