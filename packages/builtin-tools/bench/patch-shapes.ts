import type { Change, DiffHunk } from './changes-of-history.ts'

/** A way of writing the diff of a change. */
export interface PatchShape {
  readonly name: string
  /** The share of changes that `edit` must apply. */
  readonly target: number
  /** Returns undefined for a change that cannot be written so. */
  write(change: Change, seed: number): string | undefined
}

const fileHeader = '--- a/f\n+++ b/f\n'

function diffOf(
  { hunks }: Change,
  headerOf: (hunk: DiffHunk, index: number) => string,
  lineOf: (line: string) => string = (line) => line,
): string {
  const texts = hunks.map((hunk, index) =>
    [headerOf(hunk, index), ...hunk.body.map(lineOf), ''].join('\n'),
  )
  return texts.join('')
}

function numbered(hunk: DiffHunk, drift = 0, oldError = 0, newError = 0): string {
  const { oldStart, oldCount, newStart, newCount, heading } = hunk
  const at = (start: number, count: number): string => `${Math.max(0, start + drift)},${count}`
  const counts = [Math.max(0, oldCount + oldError), Math.max(0, newCount + newError)] as const
  return `@@ -${at(oldStart, counts[0])} +${at(newStart, counts[1])} @@${heading}`
}

/** A number from -`most` to `most` and never 0, the same for the same seed. */
function random(seed: number, most: number): number {
  let state = Math.imul(seed + 0x9e3779b9, 0x85ebca6b) >>> 0
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35) >>> 0
  const value = ((state ^ (state >>> 16)) >>> 0) % (2 * most)
  return value < most ? value - most : value - most + 1
}

function errorsOf(seed: number, index: number): readonly [number, number] {
  return [random(seed * 31 + index, 3), random(seed * 57 + index + 7, 3)]
}

function miscounted(change: Change, seed: number): string {
  return diffOf(change, (hunk, index) => numbered(hunk, 0, ...errorsOf(seed, index)))
}

function bare({ heading }: DiffHunk): string {
  return heading === '' ? '@@' : `@@${heading}`
}

/** Models leave blanks out in front of context: a text whose lines could mean two things is not written so. */
function withoutBlank(line: string): string {
  return /^ [^\s@+\\*-]/u.test(line) ? line.slice(1) : line
}

export const shapes: readonly PatchShape[] = [
  {
    name: 'exact headers',
    target: 1,
    write: (change) => fileHeader + diffOf(change, (hunk) => numbered(hunk)),
  },
  {
    name: 'drifted line numbers',
    target: 0.99,
    write: (change, seed) =>
      fileHeader + diffOf(change, (hunk, index) => numbered(hunk, random(seed + index, 40))),
  },
  {
    name: 'miscounted headers',
    target: 0.99,
    write: (change, seed) => fileHeader + miscounted(change, seed),
  },
  {
    name: 'drifted and miscounted',
    target: 0.99,
    write: (change, seed) =>
      fileHeader +
      diffOf(change, (hunk, index) =>
        numbered(hunk, random(seed + index, 40), ...errorsOf(seed, index)),
      ),
  },
  {
    name: 'miscounted, in a Markdown fence',
    target: 0.99,
    write: (change, seed) => {
      const text = fileHeader + miscounted(change, seed)
      return /^ {0,3}`{3}/mu.test(text) ? undefined : `\`\`\`diff\n${text}\`\`\`\n`
    },
  },
  {
    name: '`@@` without numbers',
    target: 0.99,
    write: (change) => fileHeader + diffOf(change, () => '@@'),
  },
  {
    name: '`@@` with the name of the function',
    target: 0.99,
    write: (change) => fileHeader + diffOf(change, bare),
  },
  {
    name: '`*** Begin Patch`',
    target: 0.99,
    write: (change) =>
      `*** Begin Patch\n*** Update File: f\n${diffOf(change, bare)}*** End Patch\n`,
  },
  {
    name: 'without any header (one hunk)',
    target: 0.98,
    write: (change) =>
      change.hunks.length === 1
        ? diffOf(change, () => '')
            .split('\n')
            .slice(1)
            .join('\n')
        : undefined,
  },
  {
    name: 'without the blank before context',
    target: 0.99,
    write: (change) => fileHeader + diffOf(change, (hunk) => numbered(hunk), withoutBlank),
  },
]
