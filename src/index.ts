export type {
  AcquireFact,
  AcquireOutcome,
  AcquirePath,
  HoldFact,
  HoldOutcome,
  KeepFact,
  KindName,
  LockFact,
  Notes,
  OutageFact,
  ReleaseFact,
  RenewFact,
  SettledFact,
} from './diagnostics.ts'
export {
  ClosedError,
  HoldfastError,
  type HoldfastErrorCode,
  InvalidArgumentError,
  LeaseLostError,
  type LossReason,
  NotHeldError,
  NotReleasedError,
  RedisRefusedError,
  RedisUnavailableError,
  UnsupportedServerError,
} from './errors.ts'
export type {
  HoldEvent,
  HoldfastEvents,
  JobCrashedEvent,
  OutageEvent,
  RecoveredEvent,
  ReleaseRequestedEvent,
  Requester,
} from './events.ts'
export { Holdfast } from './holdfast.ts'
export type { Lease } from './lease/lease.ts'
export { ReleaseRequestedError } from './lease/release-requested-error.ts'
export type {
  CutOffHold,
  HeldEntry,
  HeldKind,
  Holdings,
  WaitingEntry,
} from './local/holdings.ts'
export type { BarrierAwaitOptions } from './locks/barrier/await-arguments.ts'
export type { CyclicBarrier } from './locks/barrier/cyclic-barrier.ts'
export type { Job } from './locks/job/job.ts'
export type { JobOptions, OnceOptions, RunOptions } from './locks/job/job-arguments.ts'
export type { JobInfo } from './locks/job/job-info.ts'
export type { JobRun, RunOutcome } from './locks/job/run-once.ts'
export type { CountDownLatch } from './locks/latch/count-down-latch.ts'
export type {
  CandidateInfo,
  ElectionInfo,
  LeaderInfo,
} from './locks/leader/election-info.ts'
export type { LeaderElection, LeaderElectionEvents } from './locks/leader/leader-election.ts'
export type { LeaderElectionOptions, LeadOptions } from './locks/leader/leader-options.ts'
export { ResignedError } from './locks/leader/resigned-error.ts'
export type { Term } from './locks/leader/term.ts'
export type { Lock, Lock as HoldfastLock, LockInfo } from './locks/lock/holdfast-lock.ts'
export type { MultiLease } from './locks/multi/multi-lease.ts'
export type { MultiLock } from './locks/multi/multi-lock.ts'
export type {
  RateAcquireOptions,
  RateLimiterOptions,
  RateTryOptions,
} from './locks/rate/rate-arguments.ts'
export type { RateInfo, RateLimiter, RateOutcome } from './locks/rate/rate-limiter.ts'
export type { ReadWriteLock, UpgradableLock } from './locks/read-write/read-write-lock.ts'
export type { UpgradableLease } from './locks/read-write/upgradable-lease.ts'
export { UpgradeError } from './locks/read-write/upgrade-error.ts'
export type { Permit } from './locks/semaphore/permit.ts'
export type { PermitExpirableSemaphore } from './locks/semaphore/permit-expirable-semaphore.ts'
export type {
  PermitOptions,
  PermitSemaphoreOptions,
  TryPermitOptions,
} from './locks/semaphore/permit-options.ts'
export type { Semaphore } from './locks/semaphore/semaphore.ts'
export type {
  AcquirePermitsOptions,
  NewSemaphoreOptions,
  TryAcquirePermitsOptions,
  UsingPermitsOptions,
} from './locks/semaphore/semaphore-options.ts'
export type { PermitOwner, WhyNoPermits } from './locks/semaphore/why-no-permits.ts'
export type { WebLockInfo } from './locks/web/web-lock-call.ts'
export type { WebLockManager, WebLocks } from './locks/web/web-lock-manager.ts'
export type { WebLock, WebLockMode, WebLockOptions } from './locks/web/web-lock-request.ts'
export type { CloseOptions } from './options/close-options.ts'
export { type DurabilityOptions, NotDurableError } from './options/durability.ts'
export type { GetLockOptions, PlainLockOptions } from './options/lock-object.ts'
export type { NodeRedisClient } from './options/node-redis-source.ts'
export type {
  AwaitOptions,
  HoldfastOptions,
  LatchRoundOptions,
  LockOptions,
  RequestReleaseOptions,
  TryLockOptions,
  TryUsingOptions,
  WhenFreeOptions,
} from './options/options.ts'
export type { ClusterList, ListedServer, SentinelList, ServerList } from './options/server-lists.ts'
export type { WatchdogThreadOptions } from './options/watchdog-thread.ts'
export type { OwnerHandle as Owner } from './owner/owner.ts'
export type { RunRecord } from './run-record.ts'
export type { BarrierFacts } from './servers/barrier-server.ts'
export { escapeName } from './servers/escape-name.ts'
export type {
  LatchFacts,
  QueueEntry,
  ReadWriteFacts,
  ReadWriteHolder,
  SemaphoreFacts,
  WaitingClient,
  WaitingForPermits,
} from './servers/facts.ts'
export type { MasterHealth } from './servers/master-health.ts'
export type { AcquiredPermit, PermitFacts, PermitHolder } from './servers/permit-server.ts'
export { readClientInfo } from './servers/presence.ts'
export { readWireFormat, type WireFormat } from './servers/wire-version.ts'
export { WaitTimeoutError } from './waiting/wait-timeout-error.ts'
export type { ClientInfo, WhyNotAcquired } from './why-not-acquired.ts'
