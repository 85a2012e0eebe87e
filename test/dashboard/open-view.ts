import type { Browser, Page } from 'playwright-core'
import { createDashboard, type Times } from '../../tools/dashboard/handler/create.ts'
import type { HistoryIndex } from '../../tools/dashboard/handler/history-index.ts'
import { openPage, serve } from './browser.ts'
import type { FakeInspection } from './fake-inspection.ts'

const FAST: Partial<Times> = { lookMs: 100, scanMs: 300, gapMs: 20, retryMs: 100 }

export interface ViewOptions {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
  readonly history?: HistoryIndex
  readonly times?: Partial<Times>
  readonly hash?: string
  /** If given, all clocks stand still at this time. */
  readonly at?: number
  readonly hasPassword?: boolean
  /** A script that runs in the page before everything else. */
  readonly before?: string
}

const HEIGHTS: Readonly<Record<number, number>> = { 390: 844, 768: 1_024, 1360: 850, 1920: 1_080 }

/** Opens the page of a deployment in a window with this width, and waits until the dashboard has read all locks. */
export async function openView(browser: Browser, locks: FakeInspection, options: ViewOptions = {}) {
  const { width = 1_360, history, hash = '#locks', at, before } = options
  const dashboard = createDashboard(
    locks.open,
    { authorize: () => 'admin', release: true },
    {
      times: { ...FAST, ...options.times },
      history: history && (async () => history),
      command: {
        options: '--url=redis://redis.internal:6379',
        hasPassword: options.hasPassword ?? false,
      },
    },
  )
  const served = await serve(dashboard)
  const opened = await openPage(browser, 'about:blank', {
    viewport: { width, height: options.height ?? HEIGHTS[width] ?? 850 },
    colorScheme: options.colorScheme ?? 'light',
    timezoneId: 'UTC',
    hasTouch: width < 800,
  })
  const { page } = opened
  if (before !== undefined) await page.addInitScript(before)
  if (at !== undefined) await page.clock.setFixedTime(at)
  await page.goto(served.url + hash)
  await page.locator('#state[data-state=live]').waitFor()
  return { ...served, ...opened, dashboard }
}

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export function boxesOf(page: Page, selector: string): Promise<Box[]> {
  return page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect()
      return { left, right, top, bottom }
    })`,
  )
}

/** The labels in a row that touch the label before. */
export function touching(boxes: readonly Box[]): Box[] {
  const inOrder = boxes.toSorted((a, b) => a.left - b.left)
  return inOrder.slice(1).filter((one, i) => one.left < (inOrder[i] as Box).right + 4)
}
