import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { describeInBrowser, faultsOf, openBrowser } from './browser.ts'
import { FakeInspection } from './fake-inspection.ts'
import { boxesOf, openView, touching } from './open-view.ts'
import { LONG, troubledHistory, troubles } from './troubles.ts'

/** All clocks stand still, so that the pictures are the same each time. */
const NOW = Date.UTC(2026, 10, 23, 14, 30)
const WIDTHS = [390, 768, 1_360, 1_920]
const SCHEMES = ['light', 'dark'] as const

/** These pictures are for people, who check them after a change of the page. */
const folder = resolve(__dirname, '../../.cache/screenshots')

const VIEWS: Record<string, [hash: string, ready: string]> = {
  locks: ['#locks', '#body tr[data-key]'],
  lock: ['#locks=shop%3Aorder%3A1001', '#detail .holds'],
  permits: ['#locks=shop%3Aapi-quota', '#detail .holds'],
  timeline: ['#timeline', '#timeline .legend'],
  waits: ['#waits', '#waits-figures .plain'],
}

describeInBrowser('every view', () => {
  let browser: Browser
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true })
    browser = await openBrowser()
  })
  beforeEach(() => {
    jest.spyOn(Date, 'now').mockReturnValue(NOW)
  })
  afterEach(() => jest.restoreAllMocks())

  async function show(page: Page, url: string, view: string): Promise<void> {
    const [hash, ready] = VIEWS[view] as [string, string]
    await page.goto('about:blank')
    await page.goto(url + hash)
    await page.locator('#state[data-state=live]').waitFor()
    await page.locator(ready).first().waitFor()
  }

  describe.each(WIDTHS)('at %d px', (width) => {
    test.each(SCHEMES)(
      'each view of a bad day has no fault and cuts nothing off, in %s',
      async (colorScheme) => {
        const history = troubledHistory(NOW)
        const options = { width, colorScheme, history, at: NOW, hasPassword: true }
        const { page, url, troubles: faults } = await openView(browser, troubles(), options)
        const headers = new Set<string>()
        for (const view of Object.keys(VIEWS)) {
          await show(page, url, view)
          await page.screenshot({ path: join(folder, `${view}-${width}-${colorScheme}.png`) })
          expect([view, await faultsOf(page)]).toEqual([view, []])
          expect([view, await overflowsOf(page)]).toEqual([view, []])
          headers.add(JSON.stringify(await boxesOf(page, 'header, header *')))
          for (const axis of ['#timeline .axis span', '#detail .axis span']) {
            expect(touching(await boxesOf(page, axis))).toEqual([])
          }
        }
        // The header is at the same place in every view.
        expect(headers.size).toBe(1)
        expect(faults).toEqual([])
        await page.close()
      },
    )

    test('the axis of times is aligned with the bars', async () => {
      const { page, url } = await openView(browser, troubles(), {
        width,
        history: troubledHistory(NOW),
        at: NOW,
      })
      for (const view of ['lock', 'timeline']) {
        await show(page, url, view)
        const room = view === 'lock' ? '#detail' : '#timeline'
        const [axis] = await boxesOf(page, `${room} .axis`)
        const lanes = await boxesOf(page, `${room} .lane`)
        expect(lanes.length).toBeGreaterThan(0)
        for (const lane of lanes) {
          expect(Math.abs(lane.left - (axis?.left ?? 0))).toBeLessThanOrEqual(1)
          expect(Math.abs(lane.right - (axis?.right ?? 0))).toBeLessThanOrEqual(2)
        }
      }
      // The legend of the bars is visible without scrolling.
      const [legend] = await boxesOf(page, '#timeline .legend')
      expect(legend?.bottom).toBeLessThan(page.viewportSize()?.height ?? 0)
      await page.close()
    })

    // On a phone, the panel of a lock takes the place of the table.
    const places = width === 390 ? ['#locks'] : ['#locks', '#locks=shop%3Aorder%3A1001']
    test.each(places)(
      'names keep their distinguishing end, and the holder and the waiters keep their room, in %s',
      async (hash) => {
        const { page } = await openView(browser, troubles(), { width, hash, at: NOW })
        for (const month of ['11', '12']) {
          const row = page.locator(`#body tr[data-key="${LONG}:2026-${month}"]`)
          expect(await row.locator('.key').textContent()).toBe(`${LONG}:2026-${month}`)
          const [tail] = await boxesOf(page, `tr[data-key="${LONG}:2026-${month}"] .key-tail`)
          const [cell] = await boxesOf(page, `tr[data-key="${LONG}:2026-${month}"] .col-key`)
          expect(tail?.right).toBeLessThanOrEqual((cell?.right ?? 0) + 1)
          expect((tail?.right ?? 0) - (tail?.left ?? 0)).toBeGreaterThan(60)
        }
        const row = 'tr[data-key="shop:order:1001"]'
        const holders = await boxesOf(page, `${row} .col-holder`)
        expect((holders[0]?.right ?? 0) - (holders[0]?.left ?? 0)).toBeGreaterThan(60)
        const [more] = await boxesOf(page, 'tr[data-key="shop:stock"] .holders > :last-child')
        const [room] = await boxesOf(page, 'tr[data-key="shop:stock"] .col-holder')
        expect(more?.right).toBeLessThanOrEqual(room?.right ?? 0)
        for (const column of ['waiting', 'oldest', 'held', 'state']) {
          const [box] = await boxesOf(page, `${row} .col-${column}`)
          expect(box?.right).toBeLessThanOrEqual(width)
          expect((box?.right ?? 0) - (box?.left ?? 0)).toBeGreaterThan(20)
        }
        await page.close()
      },
    )

    test.each([
      ['3', 0],
      ['10,000', 10_000],
    ])('the page shows %s locks', async (name, idle) => {
      const locks = idle === 0 ? new FakeInspection() : troubles(idle)
      for (const key of idle === 0 ? ['order:1', 'order:2', 'stock'] : []) {
        locks.set(key, { holders: [{ owner: 'c:1', ageMs: 5_000 }] })
      }
      const times = { lookMs: 60_000, scanMs: 60_000 }
      const { page } = await openView(browser, locks, {
        width,
        hash: '#locks&show=all',
        at: NOW,
        times,
      })
      const total = (idle === 0 ? 3 : idle + 11).toLocaleString('en')
      await page.getByText(`${total} of ${total}`).waitFor()
      await page.screenshot({ path: join(folder, `${idle === 0 ? 3 : idle}-${width}-light.png`) })
      expect(await page.locator('#body tr').count()).toBeLessThan(80)
      expect(await overflowsOf(page)).toEqual([])
      expect(name).toBeDefined()
      await page.close()
    })

    test('an outage is reported, the last state stays, and the times stand still', async () => {
      jest.restoreAllMocks()
      const locks = troubles()
      const { page } = await openView(browser, locks, { width })
      await page.locator('#body tr[data-key="shop:report"]').waitFor()
      locks.outage = 'connect ECONNREFUSED 10.0.0.5:6379'
      await page.getByRole('alert').getByText('ECONNREFUSED').waitFor()
      expect(await page.getByRole('alert').textContent()).toMatch(
        /The page shows the state of \d\d:\d\d:\d\d\.$/,
      )
      const tile = page.locator('#tile-oldest .tile-value')
      const before = await tile.textContent()
      // The page counts each second, by its own clock.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 2_100))')
      expect(await tile.textContent()).toBe(before)
      expect(await page.locator('#body tr[data-key]').count()).toBeGreaterThan(3)
      await page.screenshot({ path: join(folder, `outage-${width}-light.png`) })
      expect(await faultsOf(page)).toEqual([])
      locks.outage = undefined
      await page.locator('#state[data-state=live]').waitFor()
      expect(await page.getByRole('alert').isHidden()).toBe(true)
      await page.close()
    })
  })

  test('the dialog of a forced release leaves room at both sides of a phone', async () => {
    const { page } = await openView(browser, troubles(), {
      width: 390,
      hash: '#locks=shop%3Aorder%3A1001',
      at: NOW,
    })
    await page.getByRole('button', { name: 'Release by force' }).click()
    const [dialog] = await boxesOf(page, '#force')
    expect(dialog?.left).toBeGreaterThanOrEqual(12)
    expect(dialog?.right).toBeLessThanOrEqual(390 - 12)
    await page.screenshot({ path: join(folder, 'dialog-390-light.png') })
    expect(await faultsOf(page)).toEqual([])
    await page.close()
  })
})

/** The elements that exceed the window, or the panel of a lock, at the right. Names of screen readers have no size. */
function overflowsOf(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const out = []
    const panel = document.querySelector('#detail:not([hidden])')
    for (const node of document.querySelectorAll('body *')) {
      if (node.closest('.unseen, .skip, [hidden], svg, .command pre') || !node.checkVisibility()) continue
      const { right, width } = node.getBoundingClientRect()
      const edge = node.closest('#detail') ? panel.getBoundingClientRect().right : innerWidth
      const isCut = node.closest('.key, .bar, #table td, .tile-about, .address') !== null
      if (width > 0 && right > edge + 1 && !isCut) out.push(node.tagName + '.' + node.className)
    }
    if (document.documentElement.scrollWidth > innerWidth) out.push('the page scrolls sideways')
    return out
  })()`)
}
