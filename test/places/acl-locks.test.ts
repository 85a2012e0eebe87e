import { describeKinds } from './acl/acl-kinds.ts'

describeKinds(['getLock', 'getFairLock', 'getMultiLock', 'masters'])
