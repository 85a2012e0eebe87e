// The API reference: one page for each exported name, from the docstrings of the entry points.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Application, Converter, ReflectionKind } from 'typedoc'
import { manifest, root, sources } from './pages.mjs'

export const API = 'api'
const folder = join(sources, API)

/** Names that appear in signatures, but that no user needs. */
const NOT_EXPORTED = [
  'AnyRegistry', // The registry of prom-client, of any of its versions.
  'EVENTS', // The type HistoryEvent is derived from this list.
  'LockFacts', // The page of LockInfo lists its members.
  'ShortfallNumbers', // Only constructors of errors have this type, and no user calls them.
  'Words', // As for ShortfallNumbers.
]

/** The entry points that have exports: the name that users import, and the source file. */
function entryPoints() {
  return Object.entries(manifest.exports)
    .filter(([name, entry]) => entry.import !== undefined && name !== './renewal-worker')
    .map(([name, entry]) => ({
      name: name.replace(/^\./, manifest.name),
      source: entry.import.types
        .replace(/^\.\/dist\/esm/, root.replace(/\/$/, ''))
        .replace(/\.d\.ts$/, '.ts'),
    }))
}

/** @throws {Error} for a docstring that TypeDoc does not understand, such as a `@link` that leads nowhere */
export async function writeApi() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const entries = entryPoints()
  const app = await Application.bootstrapWithPlugins({
    entryPoints: entries.map(({ source }) => source),
    tsconfig: join(root, 'site/tsconfig.json'),
    plugin: ['typedoc-plugin-markdown'],
    out: folder,
    basePath: root,
    readme: 'none',
    name: 'API',
    logLevel: 'Warn',
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    intentionallyNotExported: NOT_EXPORTED,
    validation: { invalidLink: true, invalidPath: true, notExported: true, notDocumented: false },
    treatWarningsAsErrors: true,
    // Options of typedoc-plugin-markdown.
    entryFileName: 'index',
    hideBreadcrumbs: false,
    hidePageHeader: true,
    pageTitleTemplates: { index: 'API', module: ({ name }) => name, member: ({ name }) => name },
    parametersFormat: 'table',
    useCodeBlocks: true,
  })
  // The name of a module is its import path, and not the path of its source file.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      const entry = entries.find(({ source }) =>
        [`/${module.name}.ts`, `/${module.name}/index.ts`].some((end) => source.endsWith(end)),
      )
      if (entry !== undefined) module.name = entry.name
    }
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('TypeDoc could not read the sources.')
  app.validate(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error('TypeDoc has complaints, see above.')
  await app.generateOutputs(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error('TypeDoc has complaints, see above.')
}

const KINDS = {
  classes: 'Classes',
  interfaces: 'Interfaces',
  'type-aliases': 'Types',
  functions: 'Functions',
  variables: 'Values',
  enumerations: 'Enumerations',
}

/** The pages of the API for the sidebar: by entry point, and by kind. */
export function apiSidebar() {
  const kindsIn = (path) =>
    Object.keys(KINDS).flatMap((kind) => {
      const inside = join(folder, path, kind)
      if (!existsSync(inside)) return []
      const items = readdirSync(inside)
        .filter((file) => file.endsWith('.md'))
        .sort()
        .map((file) => ({ text: file.slice(0, -3), link: `/${API}/${path}/${kind}/${file}` }))
      return [{ text: KINDS[kind], collapsed: true, items }]
    })
  return entryPoints().map(({ name }) => ({
    text: name,
    link: `/${API}/${name}/index.md`,
    collapsed: true,
    items: kindsIn(name),
  }))
}
