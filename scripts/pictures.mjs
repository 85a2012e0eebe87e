#!/usr/bin/env node
/**
 * Takes the pictures of the dashboard for the README, from a real run. Three services use locks and permits on a
 * separate Redis server, and the program kills one service.
 *
 *   npm run build && node scripts/pictures.mjs    writes docs/images/dashboard-{light,dark}.png; needs Chromium
 */
import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { Holdfast } from '../dist/esm/src/index.js'
import { newDashboard } from '../dist/esm/tools/dashboard/dashboard.js'
import { recordHistory } from '../dist/esm/tools/history/history.js'
import { Server } from '../programs/chaos/servers/server.mjs'

const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url))
const RUN_MS = 75_000
const SIZE = { width: 1_180, height: 560 }

if (process.argv[2] === 'service') await serve(process.argv[3], process.argv[4])
else await takePictures()

async function takePictures() {
  const server = await Server.start()
  const redis = `redis://127.0.0.1:${server.port}`
  // The page chooses the colour of a service by its name. These names give three different colours.
  const services = ['checkout-1', 'checkout-2', 'invoices-1'].map((label) =>
    fork(fileURLToPath(import.meta.url), ['service', redis, label]),
  )
  try {
    await pause(RUN_MS - 6_000)
    services[1].kill('SIGKILL')
    await pause(6_000)
    await photograph(redis)
  } finally {
    for (const service of services) service.kill('SIGKILL')
    await server.stop()
  }
}

async function photograph(redis) {
  const dashboard = newDashboard({ redis, authorize: () => 'read', history: { redis } })
  const web = createServer((request, response) => void dashboard.node(request, response))
  await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve))
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  try {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ viewport: SIZE, colorScheme })
      await page.goto(`http://127.0.0.1:${web.address().port}/`)
      await page.locator('#body tr[data-key]').first().waitFor()
      await page.getByRole('link', { name: 'Timeline' }).click()
      await page.locator('#timeline-minutes').selectOption('1')
      await pause(3_000)
      await page.screenshot({ path: `${FOLDER}dashboard-${colorScheme}.png` })
      await page.close()
    }
  } finally {
    await browser.close()
    await dashboard.close()
    web.close()
    web.closeAllConnections()
  }
}

/** Runs one service until the program kills it. */
async function serve(redis, label) {
  const holdfast = new Holdfast({ redis, label, leaseMs: 9_000 })
  recordHistory({ redis })
  const between = (least, most) => pause(least + Math.random() * (most - least))
  const forever = (work) =>
    void (async () => {
      for (;;) await work()
    })()
  const api = holdfast.getPermitExpirableSemaphore('payment-api', { permits: 3 })
  const stock = holdfast.getReadWriteLock('stock:42')
  const orders = ['order:1001', 'order:1002', 'order:1003'].map((name) =>
    holdfast.getFairLock(name),
  )
  for (const order of orders) {
    forever(async () => {
      await order.using(() => between(1_500, 5_000))
      await between(300, 3_000)
    })
  }
  for (let i = 0; i < 2; i++) {
    forever(async () => {
      await api.using(() => between(1_500, 5_000))
      await between(500, 2_500)
    })
  }
  forever(async () => {
    await stock.readLock().using(() => between(1_000, 3_000))
    await between(1_000, 4_000)
  })
  forever(async () => {
    await stock.writeLock().using(() => between(300, 900))
    await between(4_000, 9_000)
  })
  void holdfast.getLeaderElection('nightly-report', { label }).lead(() => new Promise(() => {}))
}
