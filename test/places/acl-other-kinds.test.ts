import { DRIVES } from './acl/drives.ts'
import { describeKinds } from './acl/kinds.ts'

jest.setTimeout(60_000)

// acl-locks.test.ts has the others.
const OTHERS = ['getLock', 'getFairLock', 'getMultiLock', 'masters']
describeKinds(Object.keys(DRIVES).filter((kind) => !OTHERS.includes(kind)))
