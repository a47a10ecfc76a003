import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { Text } from '../text/text.tsx'
import { type DifferenceLine, lineDifference } from './line-difference.ts'
import { readableJson } from './readable-json.ts'

const signs: Readonly<Record<DifferenceLine['kind'], string>> = {
  same: ' ',
  removed: '−',
  added: '+',
  skipped: '⋯',
}
const shownLines = 400

/** What differs between two values of the log. */
export function Difference({ before, after }: { before: string; after: string }): VNode {
  const lines = useMemo(
    () => lineDifference(readableJson(before), readableJson(after)),
    [before, after],
  )
  if (lines === undefined) return <p class="note">They differ in too much to compare here.</p>
  if (lines.length === 0) return <p class="note">What the log holds of them is equal.</p>
  return <DifferenceLines lines={lines} />
}

/** A unified diff, such as the preview of an edit. */
export function Patch({ patch }: { patch: string }): VNode {
  const lines = useMemo(() => patch.replace(/\n$/, '').split('\n').map(patchLine), [patch])
  return <DifferenceLines lines={lines} />
}

function patchLine(line: string): DifferenceLine {
  if (/^(?:@@|---|\+\+\+|diff |index |\\ )/.test(line)) return lineOf('skipped', line)
  if (line.startsWith('+')) return lineOf('added', line.slice(1))
  if (line.startsWith('-')) return lineOf('removed', line.slice(1))
  return lineOf('same', line.startsWith(' ') ? line.slice(1) : line)
}

function lineOf(kind: DifferenceLine['kind'], text: string): DifferenceLine {
  return { kind, pieces: [{ text, changed: false }] }
}

function DifferenceLines({ lines }: { lines: readonly DifferenceLine[] }): VNode {
  return (
    <div class="diff" role="group" aria-label="Difference">
      {lines.slice(0, shownLines).map(({ kind, pieces }, index) => (
        <div key={index} class="diff-line" data-kind={kind}>
          <span class="diff-sign">{signs[kind]}</span>
          <span class="diff-text">
            {pieces.map(({ text, changed }, at) =>
              changed ? (
                <mark key={at}>
                  <Text>{text}</Text>
                </mark>
              ) : (
                <Text key={at}>{text}</Text>
              ),
            )}
          </span>
        </div>
      ))}
      {lines.length > shownLines && (
        <p class="note">{lines.length - shownLines} more lines are not shown.</p>
      )}
    </div>
  )
}
