import type { IsolationReport } from '@smithers/sandbox'
import { plainTable, tableText } from './call-table.ts'
import type { Colors } from './terminal.ts'

/** The report of a sandbox as a table: each property, how far it holds, and what would make it hold. */
export function isolationTable({ enforced, notEnforced }: IsolationReport, colors: Colors): string {
  const table = plainTable(['property', 'state', 'why', 'what to do'], colors)
  for (const [property, state] of Object.entries(enforced)) {
    const missing = notEnforced.find(({ what }) => what === property)
    const color = missing === undefined ? colors.green : colors.yellow
    table.push([property, color(state), missing?.why ?? '', missing?.fix ?? ''])
  }
  return tableText(table)
}
