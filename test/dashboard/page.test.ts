import type { Browser, Page } from 'playwright-core'
import type { RunRecord } from '../../src/index.ts'
import {
  type AccessOptions,
  createDashboard,
  type Times,
} from '../../tools/dashboard/handler/create.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { describeInBrowser, faultsOf, openBrowser, openPage, serve } from './browser.ts'
import { FakeInspection } from './fake-inspection.ts'
import { scene } from './scene.ts'

const FAST = { lookMs: 100, scanMs: 300, gapMs: 20, retryMs: 100 }

describeInBrowser('the page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })

  async function open(
    locks: FakeInspection,
    access: Partial<AccessOptions> = {},
    { times = {}, ...options }: { times?: Partial<Times>; colorScheme?: 'light' | 'dark' } = {},
  ) {
    const dashboard = createDashboard(
      locks.open,
      { authorize: () => 'read', ...access },
      { times: { ...FAST, ...times } },
    )
    const served = await serve(dashboard)
    return { dashboard, ...served, ...(await openPage(browser, served.url, options)) }
  }

  const namesIn = (page: Page) => page.locator('#body tr[data-key] .key').allTextContents()

  test.each(['light', 'dark'] as const)(
    'the page has no accessibility fault in any view, in %s',
    async (colorScheme) => {
      const { page, troubles } = await open(
        scene(),
        { authorize: () => 'admin', release: true },
        { colorScheme },
      )
      await page.locator('#body').getByText('shop:order:1001').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await page.locator('#body').getByText('shop:order:1001').click()
      await page.getByText('How to free it').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await page.getByRole('button', { name: 'Release by force' }).first().click()
      await page.keyboard.type('shop:order:1001')
      expect(await faultsOf(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'Timeline' }).click()
      await page.locator('#timeline .lanes').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await page.getByRole('link', { name: 'Waits and losses' }).click()
      await page.locator('#waits-figures pre').waitFor()
      expect(await faultsOf(page)).toEqual([])
      expect(troubles).toEqual([])
      await page.close()
    },
  )

  test('the page shows changes without a reload', async () => {
    const locks = scene()
    const { page } = await open(locks)
    await page.getByText('shop:report').waitFor()
    locks.set('shop:report')
    locks.set('shop:night', { holders: [{ owner: 'n:1', ageMs: 9_000_000 }] })
    await eventuallyPasses(async () => {
      const names = await namesIn(page)
      expect(names).toContain('shop:night')
      expect(names).not.toContain('shop:report')
    })
    await page.close()
  })

  test('the page shows a job that failed as amber, and its runs in the panel', async () => {
    const locks = scene()
    const run = (state: 'done' | 'failed', error: string | null): RunRecord => ({
      ...{ state, token: 1, by: 'api-7', owner: 'c:1', startedAt: new Date(), endedAt: new Date() },
      ...{ durationMs: 2_000, tick: null, missed: 0, result: { pages: 12 }, error },
    })
    const last = run('failed', 'RangeError: no paper')
    locks.set('job:nightly', {
      ...{ kind: 'job', state: 'free', stateText: 'failed', problem: 'The last run failed.' },
      job: { last, ended: [last, run('done', null)], missed: 3 },
    })
    locks.set('job:hourly', { kind: 'job', state: 'free', stateText: 'done' })
    const { page, troubles } = await open(locks)
    const row = page.locator('#body tr[data-key="job:nightly"]')
    await row.waitFor()
    expect(await row.getAttribute('data-level')).toBe('warn')
    expect(await namesIn(page)).not.toContain('job:hourly')
    await row.click()
    const facts = page.locator('#detail-run')
    await facts.waitFor()
    const shown = await facts.innerText()
    for (const words of ['api-7', '{"pages":12}', 'RangeError: no paper', 'missed ticks']) {
      expect(shown).toContain(words)
    }
    const states = page.locator('#detail-runs tbody tr td:last-child')
    expect(await states.allTextContents()).toEqual(['failed', 'done'])
    expect(await page.locator('.concerns').innerText()).toContain('The last run failed.')
    expect(await faultsOf(page)).toEqual([])
    expect(troubles).toEqual([])
    await page.close()
  })

  test('the page filters by a host, and sorts by a column in both directions', async () => {
    const { page } = await open(scene())
    await page.locator('#body').getByText('shop:order:1001').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('job-1')
    await eventuallyPasses(async () => expect(await namesIn(page)).toEqual(['shop:report']))
    await page.getByRole('searchbox', { name: 'Filter' }).fill('')
    await page.getByRole('radio', { name: 'Waited for', exact: true }).check()
    await page.getByRole('button', { name: 'Waiting' }).click()
    await eventuallyPasses(async () =>
      expect(await namesIn(page)).toEqual(['shop:order:1001', 'shop:legacy']),
    )
    const head = page.getByRole('columnheader', { name: 'Waiting' })
    expect(await head.getAttribute('aria-sort')).toBe('descending')
    await page.getByRole('button', { name: 'Waiting' }).click()
    expect(await head.getAttribute('aria-sort')).toBe('ascending')
    expect(await namesIn(page)).toEqual(['shop:legacy', 'shop:order:1001'])
    await page.close()
  })

  test('the page renders fewer than 80 of 10,000 rows, and scrolls to the last row', async () => {
    const locks = new FakeInspection()
    for (let i = 0; i < 10_000; i++) {
      locks.set(`lock:${String(i).padStart(5, '0')}`, {
        holders: [{ owner: `o${i}`, ageMs: 1e7 - i * 10 }],
      })
    }
    const { page } = await open(locks, {}, { times: { lookMs: 60_000, scanMs: 60_000 } })
    await eventually(
      async () => (await page.locator('#shown').textContent()) === '10,000 of 10,000',
    )
    expect(await page.locator('#body tr').count()).toBeLessThan(80)
    expect(await page.locator('#table').getAttribute('aria-rowcount')).toBe('10001')
    await page.locator('#table').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    await page.getByText('lock:09999').waitFor()
    expect(await page.locator('#body tr').count()).toBeLessThan(80)
    await page.close()
  })

  test('the keyboard alone reaches a forced release', async () => {
    const locks = scene()
    const { page } = await open(locks, { authorize: () => 'admin', release: true })
    await page.locator('#body').getByText('shop:order:1001').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('1001')
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate("document.activeElement.id === 'table'")) break
    }
    await page.keyboard.press('ArrowDown')
    const active = await page.locator('#table').getAttribute('aria-activedescendant')
    expect(await page.locator(`#${active}`).getAttribute('data-key')).toBe('shop:order:1001')
    await page.keyboard.press('Enter')
    await page.getByText('How to free it').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('detail')
    await page.keyboard.press('Tab') // the button "Close"
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Release by force')
    await page.keyboard.press('Enter')
    await page.keyboard.type('shop:order:100')
    await page.keyboard.press('Enter') // the name is not complete, so nothing happens
    expect(
      await page.getByRole('button', { name: 'Release by force', exact: true }).isDisabled(),
    ).toBe(true)
    expect(locks.released).toEqual([])
    await page.keyboard.type('1')
    await page.keyboard.press('Enter')
    await page.getByText('Your store must refuse tokens up to').first().waitFor()
    expect(locks.released).toEqual([
      ['shop:order:1001', { owner: 'V1StGXR8_Z5jdHi6B-myT:1', token: 1_700_000_000_000_001 }],
    ])
    expect(await page.evaluate('document.querySelector("#force").open')).toBe(false)
    await page.locator('#detail').focus()
    await page.keyboard.press('Escape')
    await page.locator('#detail').waitFor({ state: 'hidden' })
    expect(await page.evaluate('document.activeElement.id')).toBe('table')
    await page.close()
  })

  test('the page reports that another client holds the lock if the holder changed before the release', async () => {
    const locks = scene()
    locks.outcome = 'changed'
    const { page, url } = await open(locks, { authorize: () => 'admin', release: true })
    await page.goto(`${url}#locks=shop%3Areport`)
    await page.getByRole('button', { name: 'Release by force' }).click()
    await page.keyboard.type('shop:report')
    await page.keyboard.press('Enter')
    await page.getByText('Another client holds the lock by now').first().waitFor()
    await page.close()
  })

  test.each<[string, Partial<AccessOptions>]>([
    ['forced releases are switched off', { authorize: () => 'admin' }],
    ['the user may only read', { release: true }],
  ])('the page offers no forced release if %s', async (_, access) => {
    const { page, url } = await open(scene(), access)
    await page.goto(`${url}#locks=shop%3Areport`)
    await page.getByText('How to free it').waitFor()
    expect(await page.getByRole('button', { name: 'Release by force' }).count()).toBe(0)
    await page.close()
  })

  test('the page shows hostile names and labels as text, and runs no script from them', async () => {
    const hostile = `<img src=x onerror="__trouble('ran')">"'\`</td><script>__trouble('ran')</script>`
    const turned = 'order:\u202E1001\u0000\n'
    const locks = new FakeInspection()
    const process = { client: 'c', label: `${hostile}1`, host: `${hostile}2`, pid: 1, seenMs: 0 }
    const holders = [{ owner: `${hostile}3`, process, ageMs: 60_000 }]
    const queue = [{ owner: `${hostile}4`, process }]
    locks.set(hostile, { holders, queue })
    locks.set(turned, { holders: [{ ageMs: 100 }] })
    const { page, troubles } = await open(locks, { authorize: () => 'admin', release: true })
    await page.locator('#body tr[data-key]').first().click()
    await page.getByText('How to free it').waitFor()
    expect(await page.locator('#detail-title').textContent()).toBe(hostile)
    await page.getByRole('button', { name: 'Release by force' }).click()
    expect(await page.locator('#force-key').textContent()).toBe(hostile)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Timeline' }).click()
    await page.locator('#timeline .lanes').waitFor()
    await page.goBack()
    expect(await page.locator('img').count()).toBe(0)
    expect(await namesIn(page)).toEqual([hostile, 'order:\\u202e1001\\u0000\\u000a'])
    expect(troubles).toEqual([])
    await page.close()
  })

  test('the page reconnects after its server was away, and reports the outage meanwhile', async () => {
    const locks = scene()
    const { page, port, server, dashboard } = await open(locks)
    await page.getByText('shop:report').waitFor()
    await dashboard.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await page.getByText('The dashboard does not answer').waitFor()
    expect(await faultsOf(page)).toEqual([])
    locks.set('shop:after', { holders: [{ ageMs: 9_000_000 }] })
    locks.locks.delete('shop:report')
    const again = createDashboard(locks.open, { authorize: () => 'read' }, { times: FAST })
    await serve(again, port)
    await page.getByText('shop:after').waitFor()
    expect(await page.locator('#trouble').isHidden()).toBe(true)
    await eventuallyPasses(async () => expect(await namesIn(page)).not.toContain('shop:report'))
    await page.close()
  })

  test('the page shows the error while Redis is down, and continues when Redis is back', async () => {
    const locks = scene()
    locks.outage = 'connect ECONNREFUSED 10.0.0.5:6379'
    const { page, troubles } = await open(locks)
    await page.getByRole('alert').getByText('ECONNREFUSED').waitFor()
    expect(await faultsOf(page)).toEqual([])
    locks.outage = undefined
    await page.getByText('shop:report').waitFor()
    expect(await page.locator('#trouble').isHidden()).toBe(true)
    expect(troubles).toEqual([])
    await page.close()
  })

  test('a paused page requests nothing, and continues where it stopped', async () => {
    const locks = scene()
    const { page } = await open(locks, {}, { times: { lingerMs: 10 } })
    await page.getByText('shop:report').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await eventually(() => locks.asked.closed > 0)
    await page.getByRole('button', { name: 'Pause' }).click()
    locks.set('shop:late', { holders: [{ ageMs: 9_000_000 }] })
    await page.getByText('shop:late').waitFor()
    await page.close()
  })

  test('the page has no motion if the user prefers reduced motion', async () => {
    const { page } = await open(scene())
    await page.emulateMedia({ reducedMotion: 'reduce' })
    const moving = `[...document.querySelectorAll('*')].filter((one) => {
      const { transitionDuration, animationName } = getComputedStyle(one)
      return transitionDuration !== '0s' || animationName !== 'none'
    }).length`
    expect(await page.evaluate(moving)).toBe(0)
    await page.close()
  })
})
