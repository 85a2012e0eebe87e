import { type BarrierMethods, barrier } from './barrier.ts'
import { type ElectionMethods, election } from './election.ts'
import { type FairMethods, fair } from './fair.ts'
import { type JobMethods, job } from './job.ts'
import type { KindDescriptor } from './kind.ts'
import { type LatchMethods, latch } from './latch.ts'
import { type PermitMethods, permits } from './permits.ts'
import { type RateMethods, rate } from './rate.ts'
import { type ReadWriteMethods, readWrite } from './read-write.ts'
import { type SemaphoreMethods, semaphore } from './semaphore.ts'

/**
 * All kinds of locks that need a single server. A new kind has its own file in this folder, and one line in each of the
 * lists here.
 *
 * @internal
 */
export const KINDS: readonly KindDescriptor<object>[] = [
  fair,
  readWrite,
  permits,
  semaphore,
  latch,
  barrier,
  election,
  job,
  rate,
]

/** The methods of `Holdfast` that these kinds add. */
export interface KindMethods
  extends FairMethods,
    ReadWriteMethods,
    PermitMethods,
    SemaphoreMethods,
    LatchMethods,
    BarrierMethods,
    ElectionMethods,
    JobMethods,
    RateMethods {}
