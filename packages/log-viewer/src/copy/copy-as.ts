import type { ToolCallRow } from '@smithers/tool-core/log'
import type { CopyAs } from '../api/call-detail.ts'
import { reproduction } from './reproduction.ts'

/** The texts that a call can be copied as. */
export function copyAs(row: ToolCallRow, logArgument: string | null): CopyAs {
  return {
    command: showCommand(row, logArgument),
    json: JSON.stringify(row, null, 2),
    reproduction: reproduction(row),
  }
}

function showCommand({ callToken }: ToolCallRow, logArgument: string | null): string {
  const log = logArgument === null ? [] : ['--log', shellWord(logArgument)]
  return ['smithers', 'show', shellWord(callToken), ...log].join(' ')
}

/** A text as one word of a POSIX shell, safe to paste into a terminal. */
function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-')) return text
  const quoted = `'${text.replaceAll("'", String.raw`'\''`)}'`
  return hasControl(quoted) ? `"$(printf '%b' ${octal(text)})"` : quoted
}

// A pasted line break would run what comes before it, and an escape sequence can do worse.
function hasControl(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)
}

function octal(text: string): string {
  const bytes = [...Buffer.from(text)].map(
    (byte) => String.raw`\0` + byte.toString(8).padStart(3, '0'),
  )
  return `'${bytes.join('')}'`
}
