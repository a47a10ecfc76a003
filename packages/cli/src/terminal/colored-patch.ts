import { printable } from './printable.ts'
import type { Colors } from './terminal.ts'

/** A unified diff with its added and removed lines in colour. */
export function coloredPatch(patch: string, colors: Colors): string {
  return printable(patch)
    .split('\n')
    .map((line) => {
      if (/^(?:diff|index|---|\+\+\+) /.test(line)) return colors.dim(line)
      if (line.startsWith('@@')) return colors.cyan(line)
      if (line.startsWith('+')) return colors.green(line)
      return line.startsWith('-') ? colors.red(line) : line
    })
    .join('\n')
}
