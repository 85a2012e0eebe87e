import { Worker } from 'node:worker_threads'
import { InvalidArgumentError } from '../../../errors.ts'
import { outsideContexts } from '../../../kit/outside-contexts.ts'
import { withoutFullStop } from '../../../kit/without-full-stop.ts'
import { workerUrl } from './worker-url.ts'

/**
 * The longest wait for the worker's report that its program is loaded, in milliseconds. Without a
 * report, the file is probably another program.
 */
const LONGEST_START_MS = 10_000

/**
 * @param program the file of the program; undefined for the program in the package
 * @throws `InvalidArgumentError` if the worker cannot start
 */
export function newWorker(program: URL | undefined, workerData: object): Worker {
  try {
    return outsideContexts(() => new Worker(program ?? workerUrl(), { workerData }))
  } catch (error) {
    throw unableError((error as Error).message)
  }
}

/**
 * @returns a promise that resolves when the program of the worker is loaded, and rejects with
 * `InvalidArgumentError` if it cannot be loaded
 */
export function whenUp(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    let givingUp: NodeJS.Immediate | undefined
    const settled = () => {
      clearTimeout(timer)
      clearImmediate(givingUp)
    }
    const failed = (reason: string) => {
      settled()
      reject(unableError(reason))
    }
    const timer = setTimeout(() => {
      // Messages that came while this thread was blocked are handled first.
      givingUp = setImmediate(() => {
        failed(`its program did not report within ${LONGEST_START_MS} ms that it was loaded`)
        void worker.terminate()
      })
    }, LONGEST_START_MS)
    worker.on('message', ({ kind }: { kind: string }) => {
      if (kind !== 'up') return
      settled()
      resolve()
    })
    worker.once('error', ({ message }) => failed(message))
    worker.once('exit', () => failed('it has ended'))
  })
}

function unableError(reason: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `\`watchdogThread\`: the thread cannot start: ${withoutFullStop(reason)}. Without the thread the client acquires nothing. ` +
      "In a bundle, add a separate entry for 'holdfast/renewal-worker'. Give its file as `watchdogThread: { workerUrl }` " +
      '(docs/how-to/bundle.md). Or leave `watchdogThread` out.',
  )
}
