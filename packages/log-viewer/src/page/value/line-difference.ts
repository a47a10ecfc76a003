import { diffLines, diffWordsWithSpace } from 'diff'

/** A line of a difference, in pieces; a changed piece is what differs within its line. */
export interface DifferenceLine {
  readonly kind: 'same' | 'removed' | 'added' | 'skipped'
  readonly pieces: readonly { readonly text: string; readonly changed: boolean }[]
}

const contextLines = 3
const longestMs = 300

/** What differs between two texts, with a few equal lines around it. Undefined when they take too long to compare. */
export function lineDifference(before: string, after: string): DifferenceLine[] | undefined {
  const changes = diffLines(ended(before), ended(after), { timeout: longestMs })
  if (changes === undefined) return undefined
  const lines: DifferenceLine[] = []
  for (let at = 0; at < changes.length; at += 1) {
    const change = changes[at]
    if (change === undefined) continue
    const next = changes[at + 1]
    if (change.removed && next?.added === true && change.count === next.count) {
      lines.push(...changedLines(linesOf(change.value), linesOf(next.value)))
      at += 1
    } else {
      const kind = change.added ? 'added' : change.removed ? 'removed' : 'same'
      lines.push(...linesOf(change.value).map((text) => plain(kind, text)))
    }
  }
  return withoutFarLines(lines)
}

/** As many lines out as in: each is compared with its counterpart. */
function changedLines(before: readonly string[], after: readonly string[]): DifferenceLine[] {
  const pairs = before.map((text, index) => [text, after[index] ?? ''] as const)
  const compared = pairs.map(([out, into]) =>
    out.length + into.length > 4000 ? undefined : diffWordsWithSpace(out, into),
  )
  const side = (kind: 'removed' | 'added', other: 'removed' | 'added'): DifferenceLine[] =>
    pairs.map(([out, into], index) => {
      const words = compared[index]
      if (words === undefined) return plain(kind, kind === 'removed' ? out : into)
      const pieces = words
        .filter((word) => !word[other])
        .map((word) => ({ text: word.value, changed: word[kind] }))
      return { kind, pieces }
    })
  return [...side('removed', 'added'), ...side('added', 'removed')]
}

function withoutFarLines(lines: readonly DifferenceLine[]): DifferenceLine[] {
  const near = new Set<number>()
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue
    for (let at = index - contextLines; at <= index + contextLines; at += 1) near.add(at)
  }
  const kept: DifferenceLine[] = []
  let skipped = 0
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) {
      skipped += 1
      continue
    }
    if (skipped > 0) kept.push(plain('skipped', equalLines(skipped)))
    skipped = 0
    kept.push(line)
  }
  if (skipped > 0 && kept.length > 0) kept.push(plain('skipped', equalLines(skipped)))
  return kept
}

function equalLines(count: number): string {
  return count === 1 ? '1 equal line' : `${count} equal lines`
}

function plain(kind: DifferenceLine['kind'], text: string): DifferenceLine {
  return { kind, pieces: [{ text, changed: false }] }
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
