import { describeKinds } from './acl/kinds.ts'

describeKinds(['getLock', 'getFairLock', 'getMultiLock', 'masters'])
