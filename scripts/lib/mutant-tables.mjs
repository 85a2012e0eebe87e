import { readFileSync, writeFileSync } from 'node:fs'

const [FROM, TO] = ['<!-- tables of the mutants -->', '<!-- end of the tables -->']

/** Writes the mutants that were killed between two marks of a page, one table for each area. */
export function writeTables(page, mutants) {
  const text = readFileSync(page, 'utf8')
  const [before, rest] = text.split(FROM)
  const [, after] = (rest ?? '').split(TO)
  if (after === undefined) throw new Error(`${page} has no "${FROM}" and "${TO}".`)
  const areas = [...new Set(mutants.map(({ area }) => area))]
  const tables = areas.map((area) => {
    const rows = mutants.filter((one) => one.area === area).map(rowOf)
    const head = '| mutant | mistake | where | killed by |\n|---|---|---|---|'
    return `### ${titleOf(area)}\n\n${head}\n${rows.join('\n')}\n`
  })
  const count = `${mutants.length} mutants, all of which were killed.`
  writeFileSync(page, `${before}${FROM}\n\n${count}\n\n${tables.join('\n')}\n${TO}${after}`)
}

function rowOf({ id, mistake, file, test, name }) {
  const cells = [`\`${id}\``, mistake, `\`${file}\``, `\`${test.replace(/^test\//, '')}\`: ${name}`]
  return `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
}

function titleOf(area) {
  return area[0].toUpperCase() + area.slice(1).replaceAll('-', ' ')
}
