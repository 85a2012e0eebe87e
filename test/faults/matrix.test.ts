import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { atLoad } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import {
  Diary,
  faultRig,
  granted,
  type SHA as Scripts,
  SHA,
  type Source,
  within,
} from '../support/fault-rig.ts'
import type { Trap } from '../support/proxy.ts'
import { faults } from '../support/request-faults.ts'

/** A lock, a client behind the proxy, and a client without faults. */
interface Scene {
  readonly name: string
  readonly client: Holdfast
  readonly witness: Holdfast
  /** Always has the same owner, so that it re-enters. */
  readonly lock: HoldfastLock
  readonly other: HoldfastLock
  /** The acquisitions that the client has not released. */
  held: Lease[]
  pending: Promise<Lease> | undefined
  witnessed: Lease | undefined
}

interface Operation {
  operation: string
  script: keyof typeof Scripts
  leaseMs?: number
  prepare: (scene: Scene) => Promise<void>
  /** Runs the operation with the fault. The result must be the same as without a fault. */
  act: (scene: Scene, trap: Trap) => Promise<void>
}

const rig = faultRig()

/** So long that a busy machine can renew the lease in time. */
const RENEWED_LEASE_MS = atLoad(1_200)

const operations: Operation[] = [
  {
    operation: 'acquire',
    script: 'acquire',
    prepare: async () => undefined,
    act: async (scene) => {
      scene.held.push(granted(await scene.lock.tryLock()))
    },
  },
  {
    operation: 'acquire after a wait',
    script: 'acquire',
    prepare: async (scene) => {
      scene.witnessed = granted(await scene.witness.getLock(scene.name).tryLock())
      const asked = rig.proxy.count(SHA.acquire)
      scene.pending = scene.lock.lock()
      await rig.listening(scene.name)
      // The waiter checks the lock at first, and again after the confirmation of the subscription.
      await eventually(() => rig.proxy.count(SHA.acquire) >= asked + 2)
    },
    act: async (scene) => {
      await scene.witnessed?.release()
      scene.held.push(await (scene.pending as Promise<Lease>))
    },
  },
  {
    operation: 're-entry',
    script: 'acquire',
    prepare: async (scene) => {
      scene.held.push(granted(await scene.lock.tryLock()))
    },
    act: async (scene) => {
      scene.held.push(granted(await scene.lock.tryLock()))
    },
  },
  {
    operation: 'nested release',
    script: 'release',
    prepare: async (scene) => {
      scene.held.push(await scene.lock.lock(), await scene.lock.lock(), await scene.lock.lock())
    },
    act: async (scene) => {
      expect(await scene.held.pop()?.release()).toBe(true)
    },
  },
  {
    operation: 'last release',
    script: 'release',
    prepare: async (scene) => {
      scene.held.push(await scene.lock.lock())
    },
    act: async (scene) => {
      expect(await scene.held.pop()?.release()).toBe(true)
    },
  },
  {
    operation: 'hand-off',
    script: 'handOver',
    prepare: async (scene) => {
      scene.held.push(await scene.lock.lock())
      scene.pending = scene.other.lock()
    },
    act: async (scene) => {
      const before = scene.held.pop() as Lease
      const [released, lease] = await Promise.all([
        before.release(),
        scene.pending as Promise<Lease>,
      ])
      expect(released).toBe(true)
      expect(lease.token).toBeGreaterThan(before.token)
      scene.held.push(lease)
    },
  },
  {
    operation: 'renewal',
    script: 'renew',
    leaseMs: RENEWED_LEASE_MS,
    prepare: async (scene) => {
      scene.held.push(await scene.lock.lock())
    },
    act: async (scene, trap) => {
      const renewed = new Promise((resolve) => scene.client.once('renewed', resolve))
      await trap.seen
      await renewed
      expect(await rig.server.admin.pttl(scene.name)).toBeGreaterThan(RENEWED_LEASE_MS / 2)
    },
  },
  {
    operation: 'extend',
    script: 'renew',
    prepare: async (scene) => {
      scene.held.push(await scene.lock.lock(3_000))
    },
    act: async ({ held, name }) => {
      await held[0]?.extend(8_000)
      expect(held[0]?.remaining()).toBeGreaterThan(5_000)
      expect(await rig.server.admin.pttl(name)).toBeGreaterThan(5_000)
    },
  },
]

const sources: Source[] = ['options', 'instance']

function sceneOf(name: string, source: Source, leaseMs = 10_000): Scene {
  const client = rig.client({ leaseMs }, source)
  return {
    name,
    client,
    witness: rig.witness(),
    lock: client.getLock(name, { owner: client.owner() }),
    other: client.getLock(name, { owner: client.owner() }),
    held: [],
    pending: undefined,
    witnessed: undefined,
  }
}

/** Compares the hash in Redis with the holds of the client. */
async function checkCounts({ name, held }: Scene): Promise<void> {
  const [lease] = held
  expect(await rig.hash(name)).toEqual(lease ? { [lease.owner]: String(held.length) } : {})
  for (const each of held) {
    expect(each.valid).toBe(true)
    expect(each.signal.aborted).toBe(false)
  }
}

async function checkExclusion({ name, witness, held }: Scene): Promise<void> {
  if (held.length > 0) expect(await witness.getLock(name).tryLock()).toBeNull()
}

/** Releases all holds. Then another client acquires the lock, with a greater token. */
async function releaseAll(scene: Scene, diary: Diary): Promise<void> {
  for (const lease of scene.held.splice(0).reverse()) expect(await lease.release()).toBe(true)
  const lease = await within(2_500, scene.witness.getLock(scene.name).lock())
  expect(lease.token).toBeGreaterThan(Math.max(...diary.acquired))
  await lease.release()
}

describe.each(sources)('given Redis as %s', (source) => {
  describe.each(operations)('$operation', ({ operation, script, prepare, act, leaseMs }) => {
    test.each(faults)('has the same result as without a fault when $fault', async (cell) => {
      const scene = sceneOf(`${operation}:${cell.fault}`, source, leaseMs)
      const diary = new Diary(scene.client)
      await prepare(scene)
      const trap = rig.proxy.onNextRequest(SHA[script], cell.action)

      await within(3_500, act(scene, trap))
      await trap.seen
      await checkCounts(scene)
      await checkExclusion(scene)
      if (cell.releases === 'while held') {
        trap.release()
        await trap.done
        // The held request reaches the server before these checks.
        await checkCounts(scene)
        await checkExclusion(scene)
      }

      await releaseAll(scene, diary)
      if (cell.releases === 'when all is released') {
        trap.release()
        await trap.done
        // Before its deadline, the late request may acquire the lock. The client then releases the lock.
        await eventually(async () => !(await rig.exists(scene.name)), { timeoutMs: 1_500 })
        await never(() => rig.exists(scene.name), 60)
      }
      expect(diary.lost).toEqual([])
      // There is one `acquired` event for each hold, with rising tokens, and one `released` event for each hold.
      expect(diary.acquired).toEqual([...new Set(diary.acquired)].sort((a, b) => a - b))
      await eventually(() => diary.released.length >= diary.acquired.length)
      expect(diary.released).toEqual(diary.acquired)
    })
  })
})
