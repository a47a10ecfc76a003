/** One line of a hunk. */
export interface HunkLine {
  readonly operation: ' ' | '-' | '+'
  /** Without the operation and the newline, but with a carriage return. */
  readonly content: string
  /** The patch marks the line as the last one, without a newline. */
  readonly endsFile: boolean
  /** Context only: the line as written, which is its content when the leading blank was lost. */
  readonly unmarked?: string
}

/** One hunk whose position is known or stated. */
export interface Hunk {
  /** From 1. */
  readonly number: number
  /** The index of its first old line according to the header, from 0. */
  readonly statedIndex: number
  readonly lines: readonly HunkLine[]
  /** The lines that must be in the file: context and removed lines. */
  readonly oldLines: readonly HunkLine[]
  /** Its old side is empty and starts at line 0, in a patch with file headers: git's form for an empty file. */
  readonly isForEmptyFile: boolean
}

/** One hunk of a patch that is not a well-formed unified diff. */
export interface LooseHunk extends Omit<Hunk, 'statedIndex'> {
  /** Undefined without a line number. */
  readonly statedIndex: number | undefined
  /** The counts in the header are those of the body, so its line number is believed too. */
  readonly isCounted: boolean
  /** Lines that the headers quote, such as the beginning of a function, outermost first. */
  readonly anchors: readonly string[]
  /** The patch says that the hunk ends with the file. */
  readonly endsWithFile: boolean
}

/** The header of a hunk: start and count of the old lines, count of the new ones. */
export const hunkHeader: RegExp = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/u
