import * as barrier from '../../src/servers/redis/scripts/barrier.generated.ts'
import * as fair from '../../src/servers/redis/scripts/fair.generated.ts'
import * as job from '../../src/servers/redis/scripts/job.generated.ts'
import * as latch from '../../src/servers/redis/scripts/latch.generated.ts'
import * as lock from '../../src/servers/redis/scripts/lock.generated.ts'
import * as permits from '../../src/servers/redis/scripts/permits.generated.ts'
import * as presence from '../../src/servers/redis/scripts/presence.generated.ts'
import * as quorum from '../../src/servers/redis/scripts/quorum.generated.ts'
import * as rate from '../../src/servers/redis/scripts/rate.generated.ts'
import * as readWrite from '../../src/servers/redis/scripts/read-write.generated.ts'
import * as semaphore from '../../src/servers/redis/scripts/semaphore.generated.ts'

/** All scripts of Holdfast. */
export const { script: arrive } = barrier.arrive
export const { script: inspectBarrier } = barrier.inspect
export const { script: leaveBarrier } = barrier.leave
export const { script: acquireFair } = fair.acquire
export const { script: batchFair } = fair.batch
export const { script: heartbeat } = fair.heartbeat
export const { script: releaseFair } = fair.release
export const { script: beginJob } = job.begin
export const { script: finishJob } = job.finish
export const { script: inspectJob } = job.inspect
export const { script: countDown } = latch.countDown
export const { script: deleteCount } = latch.deleteCount
export const { script: inspectLatch } = latch.inspect
export const { script: lookAtLatch } = latch.look
export const { script: setCount } = latch.setCount
export const { script: acquire } = lock.acquire
export const { script: acquireAll } = lock.acquireAll
export const { script: batch } = lock.batch
export const { script: forceRelease } = lock.forceRelease
export const { script: handOver } = lock.handOver
export const { script: inspect } = lock.inspect
export const { script: peek } = lock.peek
export const { script: release } = lock.release
export const { script: renew } = lock.renew
export const { script: acquirePermits } = permits.acquire
export const { script: handOverPermits } = permits.handOver
export const { script: inspectPermits } = permits.inspect
export const { script: releasePermits } = permits.release
export const { script: releasePermitIds } = permits.releaseIds
export const { script: renewPermits } = permits.renew
export const { script: setPermits } = permits.set
export const { script: touch } = presence.touch
export const { script: agree } = quorum.agree
export const { script: claim } = quorum.claim
export const { script: enrol } = quorum.enrol
export const { script: found } = quorum.found
export const { script: restore } = quorum.restore
export const { script: vote } = quorum.vote
export const { script: acquireRate } = rate.acquire
export const { script: giveBackRate } = rate.giveBack
export const { script: inspectRate } = rate.inspect
export const { script: resetRate } = rate.reset
export const { script: acquireRead } = readWrite.acquireRead
export const { script: acquireWrite } = readWrite.acquireWrite
export const { script: inspectReadWrite } = readWrite.inspect
export const { script: releaseReadWrite } = readWrite.release
export const { script: renewReadWrite } = readWrite.renew
export const { script: acquireSemaphore } = semaphore.acquire
export const { script: giveBackSemaphore } = semaphore.giveBack
export const { script: handOverSemaphore } = semaphore.handOver
export const { script: inspectSemaphore } = semaphore.inspect
export const { script: leaveSemaphore } = semaphore.leave
export const { script: releaseSemaphore } = semaphore.release
export const { script: setSemaphore } = semaphore.set
