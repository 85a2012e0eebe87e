import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Holdfast } from '../../src/index.ts'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { recordHistory } from '../../tools/history/history.ts'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { expectWarnings } from '../support/warnings.ts'
import { describeInBrowser, faultsOf, openBrowser, openPage, serve } from './browser.ts'
import { boxesOf } from './open-view.ts'

const ending = { beforeCheck: true }
const server = sharedServer()

afterEach(() => server.flush())
const folder = resolve(__dirname, '../../.cache/screenshots')
/**
 * So long that a waiter waits for more than 10 s (amber), even if the holder was killed just before its next renewal.
 */
const LEASE_MS = 24_000
const PATIENT = { timeout: 2 * LEASE_MS }

function newClient(label: string): Holdfast {
  const client = new Holdfast({ redis: server.url, label })
  client.on('error', () => undefined)
  atEnd(() => client.close(), ending)
  return client
}

describeInBrowser('the page of a real server', () => {
  test('the page shows a killed holder, its successor, permits in use and an outage', async () => {
    expectWarnings('HOLDFAST_HISTORY') // the server goes down while entries are written
    const history = recordHistory({ redis: server.url })
    atEnd(() => history.stop(), ending)
    const quota = newClient('invoices').getPermitExpirableSemaphore('quota')
    await quota.trySetPermits(3)
    const permits = [await quota.acquire(), await quota.acquire()]
    const killed = startChild('test/dashboard/fixtures/holder.mjs', {
      args: [server.url, 'killed', String(LEASE_MS), 'order:1'],
    })
    await killed.next()
    const waiting = newClient('checkout').getLock('order:1').lock()
    const browser = await openBrowser()
    const dashboard = newDashboard({
      redis: server.url,
      authorize: () => 'read',
      history: { redis: server.url },
    })
    const { url } = await serve(dashboard)
    const { page } = await openPage(browser, url, { viewport: { width: 1_360, height: 850 } })
    const row = page.locator('#body tr[data-key="order:1"]')
    await row.getByText('killed').waitFor()
    await row.locator('.col-waiting').getByText('1').waitFor()
    await page.locator('tr[data-key=quota]').getByText('2 of 3 taken').waitFor()
    expect(await row.getAttribute('data-level')).toBe('')

    killed.kill('SIGKILL')
    await killed.exited
    await row.locator('.mark.warn, .mark.bad').waitFor(PATIENT)
    expect(await row.locator('.mark').textContent()).toMatch(/of killed .*was not renewed|waited/)
    await row.locator('.col-holder').getByText('checkout').waitFor(PATIENT)
    const lease = await waiting

    await page.goto(`${url}#timeline`)
    const lane = page.locator('#timeline .lanes > li').filter({ hasText: 'order:1' })
    await lane.locator('.bar[data-ending=unrecorded]').waitFor()
    await lane.locator('.bar[data-ending=held]').waitFor()
    const [dead, next] = (await boxesOf(page, '#timeline .lanes > li:first-child .bar')).toSorted(
      (a, b) => a.left - b.left,
    )
    expect(dead?.right).toBeLessThanOrEqual((next?.left ?? 0) + 1)
    expect(dead?.top).toBe(next?.top)
    mkdirSync(folder, { recursive: true })
    await page.screenshot({ path: join(folder, 'real-faults-1360-light.png') })
    expect(await faultsOf(page)).toEqual([])

    server.pause()
    await page.locator('#state[data-state=unreachable]').waitFor(PATIENT)
    expect(await page.getByRole('alert').textContent()).toMatch(
      /did not answer: .*The page shows the state of/,
    )
    server.resume()
    await page.locator('#state[data-state=live]').waitFor(PATIENT)
    await eventually(async () => (await page.getByRole('alert').count()) === 0)
    await lease.release()
    await Promise.all(permits.map((permit) => permit.release()))
    await history.stop()
    await page.close()
    await browser.close()
  }, 180_000)
})
