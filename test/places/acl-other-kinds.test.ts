import { DRIVES } from './acl/drives.ts'
import { describeKinds } from './acl/kinds.ts'

// acl-locks.test.ts has the others.
const OTHERS = ['getLock', 'getFairLock', 'getMultiLock', 'masters']
describeKinds(Object.keys(DRIVES).filter((kind) => !OTHERS.includes(kind)))
