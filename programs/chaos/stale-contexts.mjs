// Ways to run work in an async context whose frame has ended: a server and a timer that were started inside `using`.
// The work runs in no frame, so it shares no lock with other code.
import { once } from 'node:events'
import { createServer, request } from 'node:http'

/** @returns `{ request, timer }`: each of them runs a function in this way, and resolves when the function is done */
export function openStaleContexts(client) {
  const opened = open(client).catch(() => ({ request: (job) => job(), timer: (job) => job() }))
  return {
    request: async (job) => (await opened).request(job),
    timer: async (job) => (await opened).timer(job),
  }
}

async function open(client) {
  const requests = new Map()
  const due = []
  let ids = 0
  let listener
  await client.getLock(`own-context-${client.id}`).using(async () => {
    listener = createServer(async ({ url }, response) => {
      await requests.get(url)()
      requests.delete(url)
      response.end()
    })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    listener.unref()
    setInterval(() => {
      for (const { job, done } of due.splice(0)) void job().then(done)
    }, 5).unref()
  })
  return {
    async request(job) {
      ids += 1
      const path = `/${ids}`
      requests.set(path, job)
      const asking = request({ host: '127.0.0.1', port: listener.address().port, path })
      asking.end()
      const [response] = await once(asking, 'response')
      response.resume()
      await once(response, 'end')
    },
    timer: (job) => new Promise((done) => due.push({ job, done })),
  }
}
