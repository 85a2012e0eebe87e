export interface Column<Row> {
  readonly head: string
  readonly text: (row: Row) => string
  readonly isNumber?: boolean
  /**
   * The smallest width to which the column may be cut, in characters. Undefined if the column is
   * never cut.
   */
  readonly least?: number
  /**
   * If cuts are not enough, the column with the greatest `spare` is left out first. Undefined if
   * the column is never left out.
   */
  readonly spare?: number
}

/** Formats a head, and a line for each row. No line is longer than `width`, if possible. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): string[] {
  const cells = columns.map((column) => [column.head, ...rows.map((row) => column.text(row))])
  const widths = cells.map((texts) => texts.reduce((most, { length }) => Math.max(most, length), 0))
  const kept = new Set(columns.keys())
  const spareOf = (i: number) => columns[i]?.spare ?? 0
  const excess = () => [...kept].reduce((sum, i) => sum + (widths[i] ?? 0) + 2, -2) - width
  const slack = (i: number) => Math.max(0, (widths[i] ?? 0) - (columns[i]?.least ?? Infinity))
  const shrinkable = () => [...kept].reduce((sum, i) => sum + slack(i), 0)
  while (excess() > shrinkable()) {
    const [last] = [...kept].sort((a, b) => spareOf(b) - spareOf(a))
    if (last === undefined || spareOf(last) === 0) break
    kept.delete(last)
  }
  for (let excessWidth = excess(); excessWidth > 0 && shrinkable() > 0; excessWidth--) {
    // The column that is furthest above its least width is cut first.
    const [widest] = [...kept].filter((i) => slack(i) > 0).sort((a, b) => slack(b) - slack(a))
    widths[widest as number] = (widths[widest as number] as number) - 1
  }
  return [...Array(rows.length + 1).keys()].map((line) =>
    [...kept]
      .map((i) => {
        const text = cut(cells[i]?.[line] ?? '', widths[i] ?? 0)
        return columns[i]?.isNumber ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)
      })
      .join('  ')
      .trimEnd(),
  )
}

/** If the text is too long, cuts its middle, because names often differ only at their end. */
function cut(text: string, width: number): string {
  if (text.length <= width) return text
  const tail = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - tail)}…${tail === 0 ? '' : text.slice(-tail)}`
}
