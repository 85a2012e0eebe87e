import { describeKinds } from './acl/acl-kinds.ts'
import { DRIVES } from './acl/drives.ts'

// acl-locks.test.ts tests these kinds.
const OTHERS = ['getLock', 'getFairLock', 'getMultiLock', 'masters']
describeKinds(Object.keys(DRIVES).filter((kind) => !OTHERS.includes(kind)))
