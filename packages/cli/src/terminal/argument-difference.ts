import { diffJson } from 'diff'
import { printable } from './printable.ts'
import type { Colors } from './terminal.ts'

/** A line diff of two logged inputs as indented JSON; null when they are equal. */
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
