import { readFileSync, writeFileSync } from 'node:fs'

const [FROM, TO] = ['<!-- table of the mutants -->', '<!-- end of the table -->']

/** Writes how many mutants each area has between two marks of a page. All of them were killed. */
export function writeTable(page, mutants) {
  const text = readFileSync(page, 'utf8')
  const [before, rest] = text.split(FROM)
  const [, after] = (rest ?? '').split(TO)
  if (after === undefined) throw new Error(`${page} has no "${FROM}" and "${TO}".`)
  writeFileSync(page, `${before}${FROM}\n\n${tableOf(mutants)}\n\n${TO}${after}`)
}

/** A sentence with the number of all mutants, and a row for each area. */
function tableOf(mutants) {
  const areas = [...new Set(mutants.map(({ area }) => area))]
  const rows = areas.map((name) => {
    const own = mutants.filter(({ area }) => area === name)
    return `| \`${name}\` | ${own.length} |`
  })
  const all = `There are ${mutants.length} mutants. All of them were killed.`
  return `${all}\n\n| area | mutants |\n|---|---:|\n${rows.join('\n')}`
}
