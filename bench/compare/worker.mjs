// A process that opens one library and runs the tasks of scenarios.
import { fileURLToPath } from 'node:url'
import { serve, startWorker } from '../support/support.mjs'

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let lock
  serve({
    open: async (module, url, settings) => {
      const { open } = await import(`./libraries/${module}.mjs`)
      lock = await open(url, settings)
    },
    prepare: (name) => lock.prepare?.(name),
    run: async (module, task, ...params) => {
      const { tasks } = await import(`./${module}.mjs`)
      return tasks[task](lock, ...params)
    },
    close: () => lock.close(),
  })
}

/** Starts a process that opens a library. */
export async function startProcess(library, url, settings = {}) {
  const worker = startWorker(import.meta.url)
  try {
    await worker.call('open', library.module, url, { ...library.settings, ...settings })
  } catch (error) {
    worker.kill()
    throw error
  }
  return {
    run: (...task) => worker.call('run', ...task),
    prepare: (name) => worker.call('prepare', name),
    close: () => worker.call('close'),
    /** Ends the process, even during a task. */
    kill: async () => {
      worker.kill()
      await worker.ended
    },
  }
}

/** Starts `count` processes, and ends them after the work. */
export async function withProcesses(count, library, url, work, settings) {
  const processes = await Promise.all(
    Array.from({ length: count }, () => startProcess(library, url, settings)),
  )
  try {
    return await work(processes)
  } finally {
    await Promise.all(processes.map((each) => each.kill()))
  }
}
