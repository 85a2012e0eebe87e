import { mkdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openView } from './open-view.ts'
import { troubledHistory, troubles } from './troubles.ts'

/** With `HOLDFAST_SCREENSHOTS=1`, the pictures are written into the docs. Otherwise only the test uses them. */
const isWanted = process.env.HOLDFAST_SCREENSHOTS === '1'
const folder = isWanted
  ? resolve(__dirname, '../../docs/how-to/dashboard')
  : resolve(__dirname, '../../.cache/screenshots')

/** All clocks stand still, so that the pictures are the same each time. */
const NOW = Date.UTC(2026, 10, 23, 14, 30)

describeInBrowser('the pictures of the docs', () => {
  test.each<[string, 'light' | 'dark', number, number, string, string]>([
    ['locks', 'light', 1_160, 560, '#locks=shop%3Aorder%3A1001', '#detail .command'],
    ['timeline', 'dark', 1_240, 620, '#timeline', '#timeline .legend'],
    ['waits', 'light', 1_240, 620, '#waits', '#waits-figures .plain'],
    ['phone', 'dark', 390, 700, '#locks', '#body tr[data-key]'],
  ])(
    'the picture "%s" in %s has fewer than 100,000 bytes',
    async (name, colorScheme, width, height, hash, ready) => {
      const now = jest.spyOn(Date, 'now').mockReturnValue(NOW)
      const locks = troubles()
      locks.unreachable = []
      const browser = await openBrowser()
      const history = troubledHistory(NOW)
      const options = { width, height, colorScheme, hash, history, at: NOW }
      const { page } = await openView(browser, locks, options)
      await page.locator(ready).first().waitFor()
      mkdirSync(folder, { recursive: true })
      const path = join(folder, `${name}.png`)
      await page.screenshot({ path })
      expect(statSync(path).size).toBeLessThan(100_000)
      await browser.close()
      now.mockRestore()
    },
  )
})
