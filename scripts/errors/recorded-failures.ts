/** A call that failed, as docs/failures.md records it. */
export interface RecordedFailure {
  readonly tool: string
  readonly input: string
  readonly code: string
  readonly message: string
}

const row = /^\| (\w+) +\| `(.*?)` +\| `(\w+)` +\| (.*?) +\|$/gmu

/** The rows of docs/failures.md, whose messages are those of real calls. */
export function recordedFailures(page: string): readonly RecordedFailure[] {
  return [...page.matchAll(row)].map(([, tool = '', input = '', code = '', message = '']) => ({
    tool,
    input: plain(input),
    code,
    message: plain(message).replaceAll(/ ?⏎ ?/gu, '\n'),
  }))
}

function plain(cell: string): string {
  return cell
    .replaceAll('&lt;', '<')
    .replaceAll(/\\([|*_`])/gu, '$1')
    .trim()
}
