// Ways to run a piece of work that begin inside a frame that is over by then: a server and a timer
// that were started in `using`. What they run is in no frame, and shares no lock with anybody.
import { once } from 'node:events'
import { createServer, request } from 'node:http'

/** @returns `{ request, timer }`: each runs a function that way, and resolves when it is done */
export async function openDoors(client) {
  const jobs = new Map()
  let ids = 0
  let due = []
  let listener
  await client.getLock(`own-door-${client.id}`).using(async () => {
    listener = createServer(async ({ url }, response) => {
      const job = jobs.get(url)
      jobs.delete(url)
      await job()
      response.end()
    })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    listener.unref()
    setInterval(() => {
      const now = due
      due = []
      for (const { job, done } of now) void job().then(done)
    }, 5).unref()
  })
  return {
    async request(job) {
      ids += 1
      const path = `/${ids}`
      jobs.set(path, job)
      const asking = request({ host: '127.0.0.1', port: listener.address().port, path })
      asking.end()
      const [response] = await once(asking, 'response')
      response.resume()
      await once(response, 'end')
    },
    timer: (job) => new Promise((done) => due.push({ job, done })),
  }
}
