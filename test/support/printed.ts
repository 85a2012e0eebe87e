/** The types of the JSON that the program prints and that the dashboard answers. */
export type { Inspected } from '../../tools/cli/locks/detail-text.ts'
export type { Lane, Past } from '../../tools/dashboard/handler/past.ts'
export type { Detail, TableRow } from '../../tools/dashboard/handler/row.ts'
