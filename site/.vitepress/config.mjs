import { join } from 'node:path'
import { apiSidebar } from '../lib/api.mjs'
import { forSite, slugify } from '../lib/markdown.mjs'
import { manifest, output, pages, repository, sections, sources } from '../lib/pages.mjs'

/** The folder of the host below which the site is published, such as `/holdfast/`. */
const base = process.env.SITE_BASE ?? '/'

/** A padlock. The page contains the icon, so the browser requests no file for it. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="#3451b2" stroke-width="2">' +
    '<rect x="2" y="7" width="12" height="8" fill="#3451b2"/><path d="M5 7V5a3 3 0 0 1 6 0v2"/></svg>',
)}`

const linkTo = (path) => `/${pages.get(path)}`

/** An item of the sidebar for each page. If the index has a heading for the page, the item is in a group. */
function itemsOf({ items }) {
  const all = []
  for (const { path, text, group } of items) {
    const item = { text, link: linkTo(path) }
    if (group === undefined) {
      all.push(item)
      continue
    }
    const known = all.find((other) => other.items !== undefined && other.text === group)
    if (known === undefined) all.push({ text: group, collapsed: true, items: [item] })
    else known.items.push(item)
  }
  return all
}

const groups = sections().map((section) => ({
  text: section.text,
  collapsed: false,
  items: itemsOf(section),
}))
const about = [
  ['README.md', 'Holdfast'],
  ['docs/README.md', 'All pages'],
].map(([path, text]) => ({ text, link: linkTo(path) }))
const project = [
  ['CHANGELOG.md', 'Changes'],
  ['SECURITY.md', 'Security'],
  ['CONTRIBUTING.md', 'Contributing'],
]
  .filter(([path]) => pages.has(path))
  .map(([path, text]) => ({ text, link: linkTo(path) }))
const API_INDEX = '/api/index.md'

const firstLink = ({ link, items }) => link ?? firstLink(items[0])

export default {
  title: 'Holdfast',
  description: manifest.description,
  lang: 'en',
  base,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: ICON }]],
  srcDir: sources,
  outDir: output,
  cacheDir: join(sources, '../vitepress'),
  cleanUrls: false,
  // The files of a page that has not changed have the same names in the next build.
  metaChunk: true,
  // The index of the search is one large file. A browser loads it when a user searches.
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  markdown: {
    anchor: { slugify },
    config: forSite,
  },
  themeConfig: {
    nav: [
      ...groups.map((group) => ({ text: group.text, link: firstLink(group) })),
      { text: 'API', link: API_INDEX },
    ],
    // Each page contains its sidebar. So only the pages of the API have the long list of the API.
    sidebar: {
      '/api/': [{ items: about }, { text: 'API', items: apiSidebar() }],
      '/': [
        { items: about },
        ...groups,
        { text: 'Project', items: [{ text: 'API', link: API_INDEX }, ...project] },
      ],
    },
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
    ...(repository !== undefined && {
      socialLinks: [{ icon: 'github', link: repository, ariaLabel: 'repository' }],
    }),
  },
}
