import { plain, read, readPage, tableRows } from './pages.ts'

interface Size {
  parts: number
  states: number
  variants: number
}

/** The rows of all tables in a text that begin with these columns. */
function rowsUnder(text: string, head: string): Record<string, string>[] {
  return text
    .split(`\n${head}`)
    .slice(1)
    .flatMap((rest) => tableRows(head + rest))
}

/** The sizes of each model in the tables of measured runs and of variants. */
function measured(): Map<string, Size> {
  const text = read('spec/README.md')
  const sizes = new Map<string, Size>()
  const sizeOf = (model: string): Size => {
    const size = sizes.get(model) ?? { parts: 0, states: 0, variants: 0 }
    sizes.set(model, size)
    return size
  }
  for (const row of rowsUnder(text, '| model | part |')) {
    const size = sizeOf(plain(row.model))
    size.parts += 1
    size.states += Number(row.states?.replaceAll(',', ''))
  }
  let model = ''
  for (const row of rowsUnder(text, '| model | without |')) {
    model = plain(row.model) || model
    sizeOf(model).variants += 1
  }
  return sizes
}

test('the pages for users have the sizes of the models from spec/README.md', () => {
  const sizes = measured()
  const page = readPage('docs/explanation/model.md').lines.join('\n')
  const rows = rowsUnder(page, '| model | content |')
  const stated = rows.map((row): [string, Size] => [
    plain(row.model),
    {
      parts: Number(row.parts),
      states: Number(row.states?.replaceAll(',', '')),
      variants: Number(row.variants),
    },
  ])
  expect(stated).toEqual([...sizes])
  const sum = (key: keyof Size) => [...sizes.values()].reduce((all, one) => all + one[key], 0)
  const millions = `${(sum('states') / 1e6).toFixed(1)} million states`
  expect(page).toContain(millions)
  expect(page.replace(/\s+/g, ' ')).toContain(`each of the ${sum('variants')} variants`)
  const tested = read('docs/explanation/tested.md')
  expect(tested).toContain(
    `${sizes.size} models with about ${millions}, and ${sum('variants')} variants, each without one guard`,
  )
})
