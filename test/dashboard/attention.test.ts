import type { Browser, Page } from 'playwright-core'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { describeInBrowser, faultsOf, openBrowser } from './browser.ts'
import { FakeInspection, processOf } from './fake-inspection.ts'
import { openView, type ViewOptions } from './open-view.ts'
import { LONG, troubledHistory, troubles } from './troubles.ts'

describeInBrowser('the page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })

  const open = (locks: FakeInspection, options: ViewOptions = {}) =>
    openView(browser, locks, options)
  const namesIn = (page: Page) => page.locator('#body tr[data-key] .key').allTextContents()
  const rowOf = (page: Page, key: string) => page.locator(`#body tr[data-key="${key}"]`)

  test('the table begins with names in use, shows permits, elections and latches by their kind, and leaves out free locks', async () => {
    const { page } = await open(troubles())
    await rowOf(page, 'shop:payments').waitFor()
    const states = await Promise.all(
      ['payments', 'billing', 'ready', 'stock', 'slots'].map(async (name) => {
        const row = rowOf(page, `shop:${name}`)
        return [
          await row.locator('.col-kind').textContent(),
          await row.locator('.mark > span').first().textContent(),
        ]
      }),
    )
    expect(states).toEqual([
      ['permits', '2 of 3 taken'],
      ['election', 'leader'],
      ['latch', 'closed, 2 to go'],
      ['read-write', 'read by 12'],
      ['semaphore', 'no permits set'],
    ])
    expect(await rowOf(page, 'shop:stock').locator('.col-holder').textContent()).toBe('search +11')
    expect(await namesIn(page)).not.toContain('shop:order:2001')
    await page.close()
  })

  test('the large numbers show the oldest wait, the live waiters and the held locks, and each number links to its locks', async () => {
    const { page } = await open(troubles())
    await rowOf(page, 'shop:order:1001').waitFor()
    const tile = (name: string) => page.getByRole('link', { name: new RegExp(`^${name}`) })
    // Candidates of an election wait while another candidate leads, so these numbers leave them out.
    expect(await tile('Oldest wait').textContent()).toMatch(/3\smin\s1\d\s+s.*shop:order:1001$/s)
    expect(await tile('Live waiters').textContent()).toMatch(/15for 7 locks$/)
    expect(await tile('Held').textContent()).toMatch(/13of 51 names$/)
    await tile('Oldest wait').click()
    await eventuallyPasses(async () => expect((await namesIn(page))[0]).toBe('shop:order:1001'))
    expect(await page.getByRole('radio', { name: 'Waited for' }).isChecked()).toBe(true)
    expect(
      await page.getByRole('columnheader', { name: 'Oldest wait' }).getAttribute('aria-sort'),
    ).toBe('descending')
    expect(await namesIn(page)).not.toContain('shop:billing')
    await tile('Held').click()
    await eventuallyPasses(async () => expect(await namesIn(page)).toHaveLength(13))
    await tile('Attention').click()
    await eventuallyPasses(async () => expect(await namesIn(page)).toHaveLength(5))
    // The address contains the view: it can be shared, and the browser can go back.
    expect(page.url()).toContain('#locks&show=attention')
    await page.reload()
    await eventuallyPasses(async () => expect(await namesIn(page)).toHaveLength(5))
    await page.goBack()
    await eventuallyPasses(async () => expect(await namesIn(page)).toHaveLength(13))
    await page.close()
  })

  test('each row that needs attention shows its level by colour, shape and words', async () => {
    const { page } = await open(troubles())
    await rowOf(page, 'shop:order:1001').waitFor()
    const levelOf = async (key: string) => {
      const row = rowOf(page, key)
      const level = await row.getAttribute('data-level')
      const shapes = await row.locator('.mark .icon').count()
      const words = await row.locator('.mark .unseen').allTextContents()
      return [level, shapes, words.join()]
    }
    expect(await levelOf('shop:order:1001')).toEqual([
      'bad',
      1,
      expect.stringMatching(/waited for 3\smin/),
    ])
    expect(await levelOf('shop:legacy')).toEqual([
      'bad',
      1,
      expect.stringContaining('has no expiry'),
    ])
    expect(await levelOf('shop:slots')).toEqual([
      'bad',
      1,
      expect.stringContaining('the number of permits is not set'),
    ])
    expect(await levelOf('shop:stock')).toEqual([
      'warn',
      1,
      expect.stringMatching(/waited for 1\d\ss/),
    ])
    expect(await levelOf('shop:billing')).toEqual(['', 0, ''])
    expect(await levelOf('shop:report')).toEqual(['', 0, ''])
    // The worst levels come first.
    const levels = await page
      .locator('#body tr[data-key]')
      .evaluateAll((rows) =>
        rows.map((row) => (row as unknown as { dataset: { level: string } }).dataset.level),
      )
    expect(levels.slice(0, 6)).toEqual(['bad', 'bad', 'bad', 'warn', 'warn', ''])
    await page.close()
  })

  test('a row needs attention after some time, although nothing changes', async () => {
    const locks = new FakeInspection()
    const waiting = (oldestWaitMs: number) => ({
      holders: [{ ageMs: 70_000 }],
      waiting: 1,
      oldestWaitMs,
    })
    locks.set('calm', waiting(8_000))
    locks.set('late', waiting(58_000))
    const { page } = await open(locks)
    await eventually(async () => (await rowOf(page, 'calm').getAttribute('data-level')) === 'warn')
    await eventually(async () => (await rowOf(page, 'late').getAttribute('data-level')) === 'bad')
    await page.close()
  })

  test('a holder that was not seen for long is marked, but not a holder with a long lease that is renewed seldom', async () => {
    const locks = new FakeInspection()
    const seen = (seenMs: number, ttlMs: number) => ({
      holders: [{ ageMs: 400_000, ttlMs, process: processOf('nightly', 'job-1', 96, seenMs) }],
    })
    locks.set('gone', seen(50_000, 25_000))
    locks.set('seldom', seen(100_000, 300_000))
    locks.set('alive', seen(19_000, 25_000))
    const { page } = await open(locks)
    await eventually(async () => (await rowOf(page, 'gone').getAttribute('data-level')) === 'warn')
    expect(await rowOf(page, 'gone').locator('.col-holder').getAttribute('class')).toContain('warn')
    expect(await rowOf(page, 'gone').locator('.mark').getAttribute('title')).toMatch(
      /last seen 5\d\ss ago/,
    )
    for (const key of ['seldom', 'alive'])
      expect(await rowOf(page, key).getAttribute('data-level')).toBe('')
    await page.close()
  })

  test('a lease that nearly ended without a renewal is marked, and a lease that was short from the start is not', async () => {
    const locks = new FakeInspection()
    const at = Date.now()
    const left = (ttlMs: number) => ({ holders: [{ owner: 'c:1', ageMs: 60_000, ttlMs }] })
    locks.set('short', left(4_500))
    locks.set('long', left(29_000))
    const { page } = await open(locks, { at })
    await rowOf(page, 'long').waitFor()
    jest.spyOn(Date, 'now').mockReturnValue(at)
    locks.set('long', left(4_500))
    await eventually(async () => (await rowOf(page, 'long').getAttribute('data-level')) === 'warn')
    expect(await rowOf(page, 'long').locator('.col-left').getAttribute('class')).toContain('warn')
    expect(await rowOf(page, 'short').getAttribute('data-level')).toBe('')
    jest.restoreAllMocks()
    await page.close()
  })

  test('the view of waits begins with the current waiters, even without a history, with the oldest waiter first', async () => {
    const { page } = await open(troubles(), { hash: '#waits' })
    const first = page.locator('#waits-now tbody tr').first()
    await first.waitFor()
    expect(await page.locator('#waits-now').textContent()).toContain('15 waiters for 7 locks.')
    expect(await first.textContent()).toMatch(/^shop:order:1001held.*checkout.*33\smin\s1\d\ss$/s)
    const [now] = await page
      .locator('#waits-now')
      .evaluateAll((all) =>
        all.map(
          (one) =>
            (one as unknown as { getBoundingClientRect(): { top: number } }).getBoundingClientRect()
              .top,
        ),
      )
    const [ended] = await page
      .getByText('Waits that ended')
      .evaluateAll((all) =>
        all.map(
          (one) =>
            (one as unknown as { getBoundingClientRect(): { top: number } }).getBoundingClientRect()
              .top,
        ),
      )
    expect(now).toBeLessThan(ended as number)
    await first.getByRole('link').click()
    await page.getByText('How to free it').waitFor()
    await page.close()
  })

  test('nodes that cannot be reached are reported in a banner, and the page continues with the other nodes', async () => {
    const locks = troubles()
    const { page } = await open(locks)
    await page.getByText('The node 10.0.0.7:6379 cannot be reached').waitFor()
    expect(await page.locator('#state').getAttribute('data-state')).toBe('live')
    expect(await namesIn(page)).toContain('shop:report')
    locks.unreachable = []
    await page.locator('#missing').waitFor({ state: 'hidden' })
    await page.close()
  })

  test('the detail of a lock shows when its holder and its waiters were last seen, and which waiter is dead', async () => {
    const { page } = await open(troubles(), { hash: '#locks=shop%3Aorder%3A1001' })
    const panel = page.locator('#detail')
    await panel.getByText('How to free it').waitFor()
    const holder = panel.locator('ul.people li').first()
    expect(await holder.textContent()).toMatch(
      /checkout.*process 4711 on web-1.*lease ends in.*last seen 3\smin\s1\d\ss ago/s,
    )
    expect(await panel.getByText('Waiting: 3').count()).toBe(1)
    const dead = panel.locator('ol.people li').last()
    expect(await dead.textContent()).toMatch(
      /checkout.*dead: its heartbeat has stopped.*last seen/s,
    )
    expect(await panel.locator('.concerns').textContent()).toContain(
      'checkout may be gone: its heartbeat has stopped.',
    )
    await page.goto(`${page.url().split('#')[0]}#locks=shop%3Abilling`)
    await panel.getByText('Candidates: 2').waitFor()
    expect(await panel.textContent()).toMatch(/Leaderworker A.*leads for 24\sh/s)
    await page.goto(`${page.url().split('#')[0]}#locks=shop%3Aready`)
    await panel.getByText('A latch has no holder.').waitFor()
    expect(await panel.getByRole('heading', { name: 'Holder' }).count()).toBe(0)
    await page.close()
  })

  test('the detail of a lock that no longer exists still shows its earlier holders', async () => {
    const { page } = await open(troubles(), {
      hash: '#locks=shop%3Acron%3Anightly',
      history: troubledHistory(Date.now()),
    })
    await page.getByText('There is no lock named').waitFor()
    const holds = page.locator('#detail .holds tbody tr')
    await holds.nth(1).waitFor()
    expect(await holds.first().textContent()).toMatch(/nightly.*released$/s)
    expect(await holds.nth(1).textContent()).toMatch(
      /cron-a.*no end recorded: held at .*, over by/s,
    )
    await page.close()
  })

  describe('the command that frees a lock', () => {
    const hash = `#locks=${encodeURIComponent(`${LONG}:2026-11`)}`

    test('the command names the server, and breaks between words only', async () => {
      for (const width of [390, 1_360]) {
        const { page } = await open(troubles(), { hash, width, hasPassword: true })
        const code = page.locator('#detail .command code')
        await code.waitFor()
        expect(await code.textContent()).toBe(
          `npx holdfast release --force --token 1700000000000001 --url=redis://redis.internal:6379 -- ${LONG}:2026-11`,
        )
        const pieces = await code
          .locator('.word')
          .evaluateAll((words) =>
            words.map(
              (word) =>
                (word as unknown as { getClientRects(): { length: number } }).getClientRects()
                  .length,
            ),
          )
        expect(new Set(pieces)).toEqual(new Set([1]))
        expect(await page.getByText('to the password first').count()).toBe(1)
        await page.close()
      }
    })

    test.each([
      ['with the clipboard of the browser', ''],
      [
        'without the clipboard, as on a page that was loaded without TLS',
        "Object.defineProperty(navigator, 'clipboard', { value: undefined })",
      ],
    ])('a button copies the command %s', async (_, before) => {
      const { page } = await open(troubles(), { hash, before })
      await page
        .context()
        .grantPermissions(before === '' ? ['clipboard-read', 'clipboard-write'] : [])
      const code = page.locator('#detail .command code')
      await code.waitFor()
      await page.getByRole('button', { name: 'Copy' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      await page.locator('#filter').focus()
      await page.keyboard.press('Control+V')
      expect(await page.locator('#filter').inputValue()).toBe(await code.textContent())
      await page.close()
    })
  })

  test('the command and its button keep selection and focus even when the rest of the panel changes', async () => {
    const locks = new FakeInspection()
    locks.set('job', { holders: [{ owner: 'client:1' }] })
    const { page } = await open(locks, { hash: '#locks=job' })
    const panel = page.locator('#detail')
    const button = panel.getByRole('button', { name: 'Copy' })
    await button.focus()
    await page.evaluate(
      "getSelection().selectAllChildren(document.querySelector('#detail .command code'))",
    )
    const focused = () => page.evaluate('document.activeElement.textContent')
    const selected = () => page.evaluate('getSelection().toString()')
    const command = await panel.locator('.command code').textContent()
    // When the second answer arrives, the page shows the first answer.
    const answers = async (count: number) => {
      for (let i = 0; i < count; i++) await page.waitForResponse(/api\/lock/)
    }
    await answers(2)
    expect([await focused(), await selected()]).toEqual(['Copy', command])
    locks.set('job', { holders: [{ owner: 'client:1' }], queue: [{ owner: 'client:2' }] })
    await panel.getByText('Waiting: 1').waitFor()
    await answers(2)
    expect([await focused(), await selected()]).toEqual(['Copy', command])
    locks.set('job', {
      holders: [{ owner: 'client:1', ttlMs: null }],
      token: 1_700_000_000_000_009,
    })
    await panel.locator('.free', { hasText: 'without an expiry' }).waitFor()
    await panel.locator('.command', { hasText: '--token 1700000000000009' }).waitFor()
    await page.close()
  })

  test('the button of the forced release is red, and its dialog names label, host and process', async () => {
    const { page } = await open(troubles(), { hash: '#locks=shop%3Aorder%3A1001' })
    const red = await page.evaluate(
      "getComputedStyle(document.documentElement).getPropertyValue('--bad').trim()",
    )
    const open_ = page.locator('#detail .danger')
    await open_.waitFor()
    const colourOf = (selector: string) =>
      page.evaluate(`(() => {
        const probe = document.createElement('i')
        probe.style.color = '${red}'
        document.body.append(probe)
        const style = getComputedStyle(document.querySelector('${selector}'))
        const is = getComputedStyle(probe).color
        probe.remove()
        return [style.color === is, style.borderColor === is, style.backgroundColor === is]
      })()`)
    expect(await colourOf('#detail .danger')).toEqual([true, true, false])
    await open_.click()
    expect(await page.locator('#force-what').textContent()).toBe(
      'This takes the lock from checkout (process 4711 on web-1) only.',
    )
    expect(await colourOf('#force-go')).toEqual([true, true, false])
    await page.keyboard.type('shop:order:1001')
    await eventuallyPasses(async () =>
      expect(await colourOf('#force-go')).toEqual([false, true, true]),
    )
    await page.close()
  })

  test('a phone shows no hints for a keyboard, and shows the number of waiters', async () => {
    const { page } = await open(troubles(), { width: 390 })
    await rowOf(page, 'shop:order:1001').waitFor()
    expect(await page.locator('#keys-help').isHidden()).toBe(true)
    expect(await rowOf(page, 'shop:order:1001').locator('.col-waiting').isVisible()).toBe(true)
    // A list sorts its rows, because there are no heads.
    await page.getByLabel('Sort by').selectOption('Waiting')
    await eventuallyPasses(async () => expect((await namesIn(page))[0]).toBe('shop:api-quota'))
    await rowOf(page, 'shop:api-quota').click()
    await page.getByText('How to free it').waitFor()
    expect(await page.locator('#scroller').isHidden()).toBe(true)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.locator('#scroller').waitFor()
    await page.close()
  })

  test('a paused page requests nothing, and continues after the pause', async () => {
    const { page } = await open(troubles(), {
      hash: '#timeline',
      history: troubledHistory(Date.now()),
    })
    await page.locator('#timeline .bar').first().waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('paused').waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 2_500))')
    expect(asked).toEqual([])
    await page.getByRole('button', { name: 'Pause' }).click()
    await eventually(() => asked.some((url) => url.includes('api/past')))
    await page.close()
  })

  test.each(['light', 'dark'] as const)(
    'the text on every part of the bars has a contrast of 4.5 to 1, in %s',
    async (colorScheme) => {
      const { page } = await open(troubles(), {
        hash: '#timeline',
        colorScheme,
        width: 1_920,
        history: troubledHistory(Date.now()),
      })
      await page.locator('#timeline .bar').first().waitFor()
      const pairs = (await page.evaluate(`(() => {
        const canvas = document.createElement('canvas')
        const context = canvas.getContext('2d', { willReadFrequently: true })
        const rgbOf = (colour) => {
          context.fillStyle = colour
          context.fillRect(0, 0, 1, 1)
          return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3)
        }
        const pairs = []
        const chart = document.querySelector('#timeline-chart')
        for (let i = 0; i < 8; i++) {
          const bar = document.createElement('div')
          bar.className = 'bar'
          bar.style.setProperty('--bar', 'var(--bar-' + i + ')')
          bar.innerHTML = '<span class="sure">a</span><span class="tail">a</span>'
          chart.append(bar)
          const [sure, tail] = bar.children
          pairs.push([rgbOf(getComputedStyle(sure).color), rgbOf(getComputedStyle(sure).backgroundColor)])
          const stripes = getComputedStyle(tail).backgroundImage.match(/(color|rgba?)\\([^()]*\\)/g)
          for (const stripe of stripes) pairs.push([rgbOf(getComputedStyle(tail).color), rgbOf(stripe)])
          bar.remove()
        }
        const lost = document.querySelector('.bar[data-ending=lost]')
        const cap = getComputedStyle(lost, '::after')
        pairs.push([rgbOf(cap.color), rgbOf(cap.backgroundColor)])
        return pairs
      })()`)) as [Rgb, Rgb][]
      expect(pairs.length).toBeGreaterThan(30)
      for (const [text, ground] of pairs)
        expect(contrastOf(text, ground)).toBeGreaterThanOrEqual(4.5)
      // A legend beside the bars explains each look in words.
      const legend = page.locator('#timeline .legend')
      const looks = ['released', 'still held', 'no end recorded', 'lost', 'taken by force']
      for (const look of looks) expect(await legend.textContent()).toContain(look)
      await page.locator('#timeline-filter').fill('slots-old')
      await legend.getByText('permit without a lease: its end is unknown').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await page.close()
    },
  )

  test('holds that follow one another share a line, and holds at the same time have separate lines', async () => {
    const now = Date.now()
    const { page } = await open(troubles(), {
      hash: '#timeline',
      history: troubledHistory(now),
      width: 1_920,
    })
    await page.locator('#timeline .bar').first().waitFor()
    const rowsOf = (key: string) =>
      page
        .locator('#timeline .lanes > li')
        .filter({ hasText: key })
        .locator('.bars')
        .getAttribute('data-rows')
    for (const key of ['cron:nightly', 'shop:mail', 'order:1002'])
      expect(await rowsOf(key)).toBe('1')
    expect(Number(await rowsOf('shop:payments'))).toBeGreaterThan(1)
    const killed = page.locator('.bar[data-ending=unrecorded]').filter({ hasText: 'cron-a' })
    const next = page
      .locator('#timeline .lanes > li')
      .filter({ hasText: 'cron:nightly' })
      .locator('.bar')
      .nth(1)
    const [end, begin] = [await killed.boundingBox(), await next.boundingBox()]
    expect((end?.x ?? 0) + (end?.width ?? 0)).toBeLessThanOrEqual((begin?.x ?? 0) + 1)
    expect(await killed.locator('.tail').isVisible()).toBe(true)
    expect(await killed.getAttribute('title')).toMatch(
      /^cron-a: .*no end recorded: held at .*, over by /,
    )
    await page.close()
  })
})

type Rgb = [number, number, number]

function contrastOf(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminanceOf(rgb: Rgb): number {
  const [r, g, b] = rgb.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
