// Runs two processes of `service.mjs`, and collects their spans. The second process waits for the first process.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const service = fileURLToPath(new URL('service.mjs', import.meta.url))

function start(role, url) {
  const child = spawn(process.execPath, [service, role], {
    env: { ...process.env, REDIS_URL: url },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const spans = []
  const awaited = new Map()
  const said = (word) => new Promise((resolve) => awaited.set(word, resolve))
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{')) spans.push(JSON.parse(line))
    else awaited.get(line)?.()
  })
  const ended = new Promise((resolve, reject) => {
    child.once('close', (code) =>
      code === 0 ? resolve(spans) : reject(new Error(`${role} ended with ${code}`)),
    )
  })
  return { said, ended, go: () => child.stdin.write('go\n') }
}

/** @returns the spans of the first process and then of the second, each in the order in which they ended */
export async function runBoth(url) {
  const report = start('report', url)
  const order = start('order', url)
  await Promise.race([
    Promise.all([report.said('ready'), order.said('ready')]),
    Promise.all([report.ended, order.ended]),
  ])
  const holds = report.said('holds')
  report.go()
  await holds
  order.go()
  return (await Promise.all([report.ended, order.ended])).flat()
}
