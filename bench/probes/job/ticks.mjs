// Three processes with different clocks each call a job at each tick, while a supervisor kills a process that runs the
// job, and restarts all processes in turn. Counts the runs of each tick with three settings of the job. Each start and
// end of a run is one line in a file, so that no line is lost at a SIGKILL.
// Run `npm run build`, then `node bench/probes/job/ticks.mjs [ticks] [everyMs] [leaseMs]`. `--quick` makes a short run.
// The exit code is 1 if a tick had more runs than allowed, or was lost without a reason.
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { forkSelf, startServer, table } from '../../support/support.mjs'

/** A process that runs a job is killed once in so many ticks, and each process restarts once in so many ticks. */
const KILL_EVERY = 15
const RESTART_EVERY = 60

const jobsOf = (everyMs) => ({
  atLeastMs: { options: { atLeastMs: everyMs / 2, everyMs }, hasTick: false, most: 1 },
  tick: { options: { everyMs }, hasTick: true, most: 1 },
  'tick, repeat': { options: { everyMs, ifCrashed: 'repeat' }, hasTick: true, most: Infinity },
})

if (process.argv[2] === 'worker') work(JSON.parse(process.argv[3]))
else await measure(process.argv.slice(2))

function work({ url, file, everyMs, ticks, leaseMs, beginsAt, offsetMs }) {
  const log = (what, job, tick, more = '') =>
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), what, job, tick, more })}\n`)
  const holdfast = new Holdfast({ redis: url, leaseMs })
  holdfast.on('jobCrashed', ({ name, run }) => log('crashed', name, tickOf(run)))
  const tickOf = ({ tick, startedAt }) => Math.round(((tick ?? startedAt) - beginsAt) / everyMs)
  const names = Object.entries(jobsOf(everyMs))
  const jobs = names.map(([name, each]) => [name, holdfast.job(name, each.options), each.hasTick])
  const run = async ([name, job, hasTick], tick) => {
    const calledAt = Date.now()
    log('call', name, tick)
    const fn = async ({ crashed }) => {
      const after = `${calledAt - beginsAt - tick * everyMs} ${Date.now() - calledAt}`
      log('start', name, tick, crashed === null ? after : `repeats ${after}`)
      process.send('begun')
      await pause(2 + Math.random() * everyMs * 0.3)
      log('end', name, tick)
    }
    try {
      const time = hasTick ? { tick: beginsAt + tick * everyMs } : {}
      const outcome = await job.run(fn, time)
      const { why = 'ran', run: served } = outcome
      log(why, name, tick, why === 'served' ? [served.state, tickOf(served)].join() : '')
    } catch (error) {
      log('error', name, tick, `${error.code} ${error.message}`)
    }
  }
  const next = (tick) => {
    const dueAt = beginsAt + tick * everyMs + offsetMs
    const timer = setTimeout(
      () => {
        if (tick + 1 < ticks) next(tick + 1)
        // A process that is this late could take the tick for the next one. Its timer is not what is measured.
        if (Date.now() > dueAt + everyMs / 5) log('late', '', tick)
        else for (const job of jobs) void run(job, tick)
      },
      Math.max(0, dueAt - Date.now()),
    )
    process.once('SIGTERM', () => clearTimeout(timer))
  }
  process.setMaxListeners(0)
  // The code that the measurements share ends the process at once.
  process.removeAllListeners('SIGTERM')
  process.once('SIGTERM', async () => {
    await holdfast.close()
    process.exit()
  })
  process.on('disconnect', () => process.exit())
  void holdfast.lastRun('tick').then(() => {
    next(Math.max(0, Math.ceil((Date.now() - beginsAt - offsetMs) / everyMs)))
    process.send('ready')
  })
}

async function measure(args) {
  const numbers = args.filter((arg) => arg !== '--quick').map(Number)
  const [ticks = args.includes('--quick') ? 40 : 1_000, everyMs = 200, leaseMs = 1_000] = numbers
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-ticks-'))
  const file = join(dir, 'lines')
  const { url, stop } = await startServer()
  const given = { url, file, everyMs, ticks, leaseMs, beginsAt: Date.now() + 6_000 }
  const endsAt = given.beginsAt + ticks * everyMs
  const offsets = [0, 0.04, -0.04].map((part) => part * everyMs)
  const kills = []
  const workers = []
  let isEnding = false
  let mayKill = false
  let restarts = 0

  const start = (n) =>
    new Promise((resolve) => {
      const child = forkSelf(
        import.meta.url,
        'worker',
        JSON.stringify({ ...given, offsetMs: offsets[n] }),
      )
      workers[n] = child
      const ended = new Promise((done) => child.once('exit', done))
      child.on('message', (message) => {
        if (message === 'ready') resolve()
        if (message !== 'begun' || !mayKill) return
        mayKill = false
        setTimeout(() => {
          kills.push(Date.now())
          child.kill('SIGKILL')
        }, Math.random() * 30)
      })
      void ended.then(() => {
        if (!isEnding) void start(n).then(resolve)
      })
    })

  await Promise.all(offsets.map((_, n) => start(n)))
  const killing = setInterval(() => {
    mayKill = true
  }, everyMs * KILL_EVERY)
  while (Date.now() < endsAt) {
    await pause(Math.min(everyMs * RESTART_EVERY, endsAt - Date.now() + 1))
    for (const n of workers.keys()) {
      if (Date.now() > endsAt - 10 * everyMs) break
      // A process that has just been killed starts again by itself.
      if (workers[n].exitCode !== null || workers[n].signalCode !== null) continue
      restarts += 1
      const ended = new Promise((done) => workers[n].once('exit', done))
      workers[n].kill('SIGTERM')
      await ended
      // The next process restarts when this one takes part.
      await pause(2_000)
    }
  }
  clearInterval(killing)
  await pause(leaseMs + 10 * everyMs)
  isEnding = true
  for (const worker of workers) worker.kill('SIGKILL')
  await stop()
  const lines = readFileSync(file, 'utf8').trim().split('\n').map(JSON.parse)
  rmSync(dir, { recursive: true })
  console.log(`${ticks} ticks, one each ${everyMs} ms, leases of ${leaseMs} ms`)
  console.log(`${kills.length} kills during a run, ${restarts} restarts\n`)
  process.exit(report(lines, kills, given) ? 0 : 1)
}

function report(lines, kills, { everyMs, ticks, leaseMs, beginsAt }) {
  const errors = lines.filter(({ what }) => what === 'error')
  const late = new Set(lines.filter(({ what }) => what === 'late').map(({ tick }) => tick))
  const isDead = (tick) => {
    const at = beginsAt + tick * everyMs
    return kills.some((kill) => at > kill - everyMs && at < kill + leaseMs + 2 * everyMs)
  }
  let isRight = true
  const rows = Object.entries(jobsOf(everyMs)).map(([job, { most }]) => {
    const own = lines.filter((line) => line.job === job)
    const times = (what) => {
      const counts = new Array(ticks).fill(0)
      for (const line of own) if (line.what === what) counts[line.tick] += 1
      return counts
    }
    const [calls, starts, ends] = [times('call'), times('start'), times('end')]
    const among = (counts, accepts) => counts.filter(accepts).length
    const tooMany = starts.flatMap((count, tick) => (count > most ? [tick] : []))
    const lost = (most === 1 ? starts : ends).flatMap((count, tick) =>
      count === 0 && calls[tick] > 0 && !isDead(tick) && !late.has(tick) ? [tick] : [],
    )
    // A call that waits for the end of a run is never served by a run that has crashed.
    const unserved = own.filter(
      ({ what, more, tick }) =>
        what === 'served' &&
        most > 1 &&
        (/^crashed/.test(more) || Number(more.split(',')[1]) < tick),
    )
    for (const [what, those] of Object.entries({ tooMany, lost, unserved })) {
      if (those.length === 0) continue
      isRight = false
      console.log(`${job}: ${what} ${JSON.stringify(those.slice(0, 20))}`)
      const of = ({ tick, at, what, more }) =>
        those[0] === tick && console.log(`  ${at - beginsAt - tick * everyMs} ms: ${what} ${more}`)
      own.map(of)
    }
    const by = (counts) => [0, 1].map((n) => among(counts, (count) => count === n))
    const more = (counts) => among(counts, (count) => count > 1)
    const reported = own.filter(({ what }) => what === 'crashed').length
    const repeated = own.filter(({ more: word }) => word.startsWith('repeats')).length
    const cells = [...by(starts), more(starts), ...by(ends), more(ends)]
    return [job, ...cells, among(calls, (count) => count === 0), reported, repeated, lost.length]
  })
  const runs = ['0 runs', '1', '2+', '0 finished', '1', '2+']
  table(['job with', ...runs, 'no call', 'crashes reported', 'with `crashed`', 'lost'], rows)
  console.log(`\nlate timers: ${late.size} ticks, rejected calls: ${errors.length}`)
  const codes = errors.map(({ more }) => more.split(' ')[0])
  for (const code of new Set(codes)) {
    console.log(`${codes.filter((each) => each === code).length} × ${code}`)
  }
  return isRight
}
