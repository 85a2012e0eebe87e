/** The scripts of Holdfast, those of all folders together. */
export {
  acquire as acquireFair,
  heartbeat,
  release as releaseFair,
} from '../../src/servers/redis/scripts/fair.generated.ts'
export {
  countDown,
  deleteCount,
  inspect as inspectLatch,
  look as lookAtLatch,
  setCount,
} from '../../src/servers/redis/scripts/latch.generated.ts'
export {
  acquire,
  acquireAll,
  batch,
  forceRelease,
  handOver,
  inspect,
  peek,
  release,
  renew,
} from '../../src/servers/redis/scripts/lock.generated.ts'
export {
  acquire as acquirePermits,
  inspect as inspectPermits,
  release as releasePermits,
  releaseIds as releasePermitIds,
  renew as renewPermits,
  set as setPermits,
} from '../../src/servers/redis/scripts/permits.generated.ts'
export { touch } from '../../src/servers/redis/scripts/presence.generated.ts'
export {
  agree,
  claim,
  enrol,
  found,
  restore,
  vote,
} from '../../src/servers/redis/scripts/quorum.generated.ts'
export {
  acquireRead,
  acquireWrite,
  release as releaseReadWrite,
  renew as renewReadWrite,
} from '../../src/servers/redis/scripts/read-write.generated.ts'
export {
  acquire as acquireSemaphore,
  giveBack as giveBackSemaphore,
  inspect as inspectSemaphore,
  leave as leaveSemaphore,
  release as releaseSemaphore,
  set as setSemaphore,
} from '../../src/servers/redis/scripts/semaphore.generated.ts'
