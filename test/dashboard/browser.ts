import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Dashboard } from '../../tools/dashboard/dashboard.ts'
import { atEnd } from '../support/lifetime.ts'

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** Tests of the page need a browser. Without a browser they are skipped, but not in CI. */
export const describeInBrowser =
  existsSync(CHROMIUM) || process.env.CI === 'true' ? describe : describe.skip

export async function openBrowser(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({ executablePath: CHROMIUM, args, timeout: 30_000 })
  atEnd(() => browser.close())
  return browser
}

/** Opens a page. Records violations of its security policy and errors in the page. */
export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<{ page: Page; troubles: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 560 }, ...options })
  page.setDefaultTimeout(10_000)
  const troubles: string[] = []
  await page.exposeFunction('__trouble', (text: string) => void troubles.push(text))
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) => {
      __trouble(event.violatedDirective + ': ' + event.blockedURI + ' ' + event.sample)
    })`,
  )
  page.on('pageerror', (error) => void troubles.push(String(error)))
  await page.goto(url)
  return { page, troubles }
}

/**
 * Returns the accessibility faults. The browser itself runs axe, because the policy of the page would refuse a script.
 */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  // Waits for the end of animations, because a changing colour has no fixed contrast.
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished))`)
  const result = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[]
  }
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}

/** Serves the dashboard under a path, on a free port or on the given port. */
export async function serve(
  dashboard: Dashboard,
  port = 0,
): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer((request, response) => void dashboard.node(request, response))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const end = async () => {
    await dashboard.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  atEnd(end, { beforeCheck: true })
  const address = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${address.port}/locks/`, port: address.port, server }
}
