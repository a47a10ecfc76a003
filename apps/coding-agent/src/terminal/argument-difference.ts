import { diffJson } from 'diff'
import { printable } from './printable.ts'
import type { Colors } from './terminal.ts'

/** How two logged inputs differ, line by line of their indented JSON; null when they do not. */
export function argumentDifference(before: unknown, after: unknown, colors: Colors): string | null {
  const changes = diffJson(before as object, after as object)
  if (changes.every((change) => !change.added && !change.removed)) return null
  return changes
    .flatMap(({ value, added, removed }) =>
      printable(value)
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => {
          if (added) return colors.green(`+ ${line}`)
          return removed ? colors.red(`- ${line}`) : `  ${line}`
        }),
    )
    .join('\n')
}
