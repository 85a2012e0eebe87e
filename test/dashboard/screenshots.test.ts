import { mkdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { createDashboard } from '../../src/extras/dashboard/create.ts'
import type { HistoryEntry } from '../../src/extras/history/history.ts'
import { describeInBrowser, openBrowser, openPage, serve } from './browser.ts'
import { indexOf } from './entries.ts'
import { scene } from './scene.ts'

/** `HOLDFAST_SCREENSHOTS=1` writes them into the docs; without it they are made for nothing but the test. */
const isWanted = process.env.HOLDFAST_SCREENSHOTS === '1'
const folder = isWanted
  ? resolve(__dirname, '../../docs/how-to/dashboard')
  : resolve(__dirname, '../../.cache/screenshots')

/** All clocks stand still, so that the pictures are the same each time. */
const NOW = Date.UTC(2026, 10, 23, 14, 30)

const view = { width: 1_000, height: 480 }

describeInBrowser('the pictures of the docs', () => {
  test.each<[string, 'light' | 'dark', string, (page: Page) => Promise<void>]>([
    [
      'locks',
      'light',
      '#locks=shop%3Aorder%3A1001',
      async (page) => {
        await page.getByText('What it would take').waitFor()
      },
    ],
    [
      'timeline',
      'dark',
      '#timeline',
      async (page) => {
        await page.locator('.lanes').waitFor()
      },
    ],
  ])('%s, in %s', async (name, colorScheme, hash, ready) => {
    const now = jest.spyOn(Date, 'now').mockReturnValue(NOW)
    const entries = history()
    const dashboard = createDashboard(
      scene().open,
      { authorize: () => 'admin', release: true },
      { times: { gapMs: 20 }, history: async () => indexOf(entries) },
    )
    const { url } = await serve(dashboard)
    const browser = await openBrowser()
    const options = { colorScheme, viewport: view, timezoneId: 'UTC' }
    const { page } = await openPage(browser, 'about:blank', options)
    await page.clock.setFixedTime(NOW)
    await page.goto(url + hash)
    await page.locator('#state[data-state=live]').waitFor()
    await ready(page)
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `${name}.png`)
    await page.screenshot({ path })
    expect(statSync(path).size).toBeLessThan(75_000)
    await browser.close()
    now.mockRestore()
  })
})

/** Six minutes of a shop, the same each time. */
function history(): HistoryEntry[] {
  const entries: HistoryEntry[] = []
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const note = (at: number, more: Partial<HistoryEntry>) => {
    const nothing = { token: null, waitedMs: null, heldMs: null, path: null, reason: null }
    const own = { kind: 'lock', client: 'c', stalledMs: null, dropped: null } as const
    const later = { isGroup: false, leaseMs: null, limitMs: null }
    entries.push({
      id: `${at}-0`,
      at,
      event: 'acquired',
      name: '',
      owner: null,
      label: '',
      ...nothing,
      ...own,
      ...later,
      ...more,
    })
  }
  const names = ['order:1001', 'order:1002', 'stock', 'invoice', 'report', 'mail', 'search-index']
  const labels = ['checkout', 'invoices', 'shipping', 'nightly']
  for (const [i, short] of names.entries()) {
    const name = `shop:${short}`
    let at = NOW - 360_000 + 9_000 * i
    for (let n = 0; at < NOW - 4_000; n++) {
      const label = labels[Math.floor(random() * labels.length)] as string
      const owner = `c:${i}.${n}`
      const waitedMs = Math.round(random() ** 4 * 8_000)
      const heldMs = Math.round(3_000 + random() ** 2 * 40_000)
      const hold = { name, owner, label, token: 1_790_000_000_000_000 + n }
      note(at, { ...hold, waitedMs })
      if (at + heldMs > NOW) break
      const isLost = i === 3 && n === 2
      const loss = { event: 'lost', reason: 'expired', stalledMs: 31_204 } as const
      note(at + heldMs, { ...hold, heldMs, ...(isLost ? loss : { event: 'released' }) })
      at += heldMs + Math.round(random() ** 3 * 30_000)
    }
  }
  note(NOW - 71_000, {
    event: 'timeout',
    name: 'shop:order:1001',
    label: 'invoices',
    waitedMs: 5_000,
  })
  note(NOW - 190_000, {
    event: 'forced',
    name: 'shop:report',
    label: 'ops',
    owner: 'c:x',
    token: 1,
    heldMs: 1_000,
  })
  return entries.sort((a, b) => a.at - b.at)
}
