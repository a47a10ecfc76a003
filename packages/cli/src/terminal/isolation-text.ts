import type { IsolationReport, SandboxReport } from '@smithers/sandbox'
import type { NetworkByHost } from '../sandbox/host-network.ts'
import type { MachineVersions } from '../sandbox/machine-versions.ts'
import { plainTable, tableText } from './call-table.ts'
import type { Colors } from './terminal.ts'

/** How strongly each property is enforced. */
export function isolationTable({ enforced, notEnforced }: IsolationReport, colors: Colors): string {
  const table = plainTable(['property', 'state'], colors)
  for (const [property, state] of Object.entries(enforced)) {
    const missing = notEnforced.some(({ what }) => what === property)
    table.push([property, missing ? colors.yellow(state) : colors.green(state)])
  }
  return tableText(table)
}

/** Further facts for a bug report: the file guard, the network mode and the versions. */
export function factsTable(
  {
    guard,
    network,
    networkByHost,
  }: Pick<SandboxReport, 'guard' | 'network'> & { readonly networkByHost: NetworkByHost },
  versions: MachineVersions,
  colors: Colors,
): string {
  const table = plainTable(['fact', 'value'], colors)
  const works = networkByHost.works ? colors.green('works') : colors.yellow('does not work')
  table.push(['file guard', guard], ['network mode', network], ['network by host', works])
  for (const [name, version] of Object.entries(versions)) {
    table.push([name, (version as string | null) ?? colors.yellow('not found')])
  }
  return tableText(table)
}

/** `bubblewrap (files enforced, network enforced, …)`. */
export function isolationSentence({ backend, enforced }: IsolationReport): string {
  const properties = Object.entries(enforced).map(([what, how]) => `${what} ${how}`)
  return `${backend} (${properties.join(', ')})`
}

/** What is not enforced and what works less, one line each, then each step that would give more, once. */
export function missingIsolation({ notEnforced, limitations }: IsolationReport): string[] {
  const lacking = notEnforced.length > 0 ? notEnforced : limitations
  return [
    ...notEnforced.map(({ what, why }) => `${what}: ${why}`),
    ...limitations.map(({ why }) => `works less: ${why}`),
    ...new Set(lacking.map(({ fix }) => `for more: ${fix}`)),
  ]
}
