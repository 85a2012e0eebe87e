import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { describeInBrowser, openBrowser } from '../dashboard/browser.ts'
import { allPages, readPage, root } from '../repo/docs/pages.ts'

let site: ChildProcess
let printed = ''
/** The address of the built site, which ends with a slash. */
let url: string

beforeAll(async () => {
  site = spawn(process.execPath, ['scripts/site.mjs', '--base', 'below', '--serve', '0'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  url = await new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk
      const served = /It is served at (\S+\/)\./.exec(printed)?.[1]
      if (served !== undefined) resolve(served)
    }
    site.stdout?.on('data', read)
    site.stderr?.on('data', read)
    site.once('exit', (code) => reject(new Error(`It ended with ${code}:\n${printed}`)))
  })
}, 300_000)

afterAll(async () => {
  if (site.exitCode !== null) return
  const ended = new Promise((resolve) => site.once('exit', resolve))
  site.kill()
  await ended
})

test('one command builds the site, and prints its address', () => {
  expect(printed).toMatch(/The site is in \S+: \d+ pages, and the API/)
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/below\/$/)
})

test('the site has each page of docs/, and each entry point of the package', () => {
  const html = readFileSync(join(root, 'site/dist/contents.html'), 'utf8')
  const pages = allPages().filter(({ path }) => /^docs\/.+\//.test(path))
  expect(pages.length).toBeGreaterThan(50)
  const addresses = pages.map(({ path }) => path.replace(/^docs/, '/below').replace('.md', '.html'))
  expect(addresses.filter((address) => !html.includes(`href="${address}"`))).toEqual([])
  const api = readFileSync(join(root, 'site/dist/api/index.html'), 'utf8')
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.keys(exports)
    .filter((name) => !/package\.json|renewal-worker/.test(name))
    .map((name) => name.replace(/^\./, 'holdfast'))
  expect(entries).toContain('holdfast/testing')
  expect(entries.filter((name) => !api.includes(`href="./${name}/"`))).toEqual([])
})

describeInBrowser('a browser that reaches only the site', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })

  /** Opens a page of the site. The page can reach nothing except the site. */
  async function open(path: string): Promise<{ page: Page; troubles: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
    page.setDefaultTimeout(20_000)
    const troubles: string[] = []
    await page.route('**', (route) => {
      const target = route.request().url()
      if (target.startsWith(url)) return route.continue()
      troubles.push(`asks for ${target}`)
      return route.abort()
    })
    page.on('pageerror', (error) => void troubles.push(String(error)))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) troubles.push(message.text())
    })
    await page.goto(`${url}${path}`)
    return { page, troubles }
  }

  test.each(['semaphore', 'cron'])(
    'the search finds pages with the word %s, and opens a page',
    async (word) => {
      const { page, troubles } = await open('')
      await page.getByRole('button', { name: 'Search' }).click()
      await page.locator('.VPLocalSearchBox input').fill(word)
      const result = page.locator('.VPLocalSearchBox .results a').first()
      await result.waitFor()
      const target = await result.getAttribute('href')
      await result.click()
      await page.waitForURL(`**${target}`)
      await page.locator('.VPLocalSearchBox').waitFor({ state: 'detached' })
      expect((await page.locator('main').innerText()).toLowerCase()).toContain(word)
      expect(troubles).toEqual([])
      await page.close()
    },
  )

  test('the pages have a light and a dark theme', async () => {
    const { page, troubles } = await open('tutorial/first-lock.html')
    const background = () =>
      page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    await page.getByRole('switch', { name: /dark/ }).first().click()
    expect(await background()).not.toBe(light)
    expect(troubles).toEqual([])
    await page.close()
  })

  test('each diagram is drawn', async () => {
    const drawn = allPages()
      .filter(({ path }) => path.startsWith('docs/'))
      .map(({ path, blocks }) => ({
        path,
        diagrams: blocks.filter(({ language }) => language === 'mermaid').length,
      }))
      .filter(({ diagrams }) => diagrams > 0)
    for (const { path, diagrams } of drawn) {
      const { page, troubles } = await open(path.replace(/^docs\//, '').replace('.md', '.html'))
      await page
        .locator('.mermaid-diagram[data-drawn] svg')
        .nth(diagrams - 1)
        .waitFor()
      expect({ path, troubles }).toEqual({ path, troubles: [] })
      await page.close()
    }
  })
})

describe('faults in a built page', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-site-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const faults = (html: string): string[] => {
    mkdirSync(join(folder, 'other'))
    writeFileSync(join(folder, 'other/page.html'), '<h2 id="there">There</h2>')
    writeFileSync(join(folder, 'index.html'), html)
    const program = `const { faultsOf } = await import('./site/lib/check.mjs')
      console.log(JSON.stringify(faultsOf(${JSON.stringify(folder)}, '/below/')))`
    const args = ['--input-type=module', '-e', program]
    return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))
  }

  test.each([
    ['<a href="/below/other/none.html">', 'no such file'],
    ['<a href="other/page.html#nowhere">', 'no such anchor'],
    ['<a class="it" href="/other/page.html">', 'not below /below/'],
    ['<script src="https://example.com/x.js">', 'loaded from elsewhere'],
  ])('the check finds the fault of %s', (html, fault) => {
    expect(faults(html)).toEqual([expect.stringContaining(fault)])
  })

  test('the check finds no fault in a correct page', () => {
    const good = [
      '/below/other/page.html#there',
      'other/page.html',
      'https://example.com/',
      '#here',
    ]
    const links = good.map((target) => `<a href="${target}">`).join('')
    expect(faults(`<h1 id="here">${links}`)).toEqual([])
  })
})

test('the index has a heading for each section of the site', () => {
  const headings = readPage('docs/README.md').headings.filter(({ level }) => level === 2)
  expect(headings.map(({ text }) => text)).toEqual(
    expect.arrayContaining(['Start', 'How to', 'Run in production', 'Reference', 'Explanation']),
  )
})
