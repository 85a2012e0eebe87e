import { BARRIER } from '../../barrier-server.ts'
import { ELECTION } from '../../election-channel.ts'
import { FAIR } from '../../fair-server.ts'
import { JOB } from '../../job-server.ts'
import { LATCH } from '../../latch-server.ts'
import { PERMITS } from '../../permit-server.ts'
import { RATE } from '../../rate-server.ts'
import { READ_WRITE } from '../../read-write-server.ts'
import { SEMAPHORE } from '../../semaphore-server.ts'
import type { ServerKind } from '../../server-kind.ts'
import { recordBarrier } from '../barrier.ts'
import { recordElection } from '../election.ts'
import { recordFair } from '../fair-requests.ts'
import { recordJob } from '../job.ts'
import { recordLatch } from '../latch.ts'
import { recordRate } from '../rate.ts'
import { recordReadWrite } from '../read-write/read-write-requests.ts'
import type { RecordKind, RecordKinds } from '../record-kind.ts'
import { recordPermits } from '../semaphore/permit-requests.ts'
import { recordSemaphore } from '../semaphore/semaphore-requests.ts'

/**
 * All kinds on servers without scripts except plain locks, by the `name` of their `ServerKind`. Add
 * a line for a new kind.
 */
export const RECORD_KINDS: RecordKinds = new Map([
  onRecords(FAIR, recordFair),
  onRecords(READ_WRITE, recordReadWrite),
  onRecords(PERMITS, recordPermits),
  onRecords(SEMAPHORE, recordSemaphore),
  onRecords(LATCH, recordLatch),
  onRecords(BARRIER, recordBarrier),
  onRecords(ELECTION, recordElection),
  onRecords(JOB, recordJob),
  onRecords(RATE, recordRate),
])

function onRecords<R extends object>(
  { name }: ServerKind<R>,
  kind: RecordKind<NoInfer<R>>,
): [string, RecordKind<object>] {
  return [name, kind]
}
