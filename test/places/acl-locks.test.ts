import { describeKinds } from './acl/kinds.ts'

jest.setTimeout(60_000)

describeKinds(['getLock', 'getFairLock', 'getMultiLock', 'masters'])
