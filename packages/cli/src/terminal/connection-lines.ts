import type { CallConnections, RecordedConnection } from '@smithers/tool-core/log'
import { printableLine } from './printable.ts'
import type { Colors } from './terminal.ts'

const lineWidth = 160

/** What the commands of a call asked of the network, one host a line. */
export function connectionLines(
  { connections, omitted }: CallConnections,
  colors: Colors,
): string[] {
  const lines = connections.map((each) => connectionLine(each, colors))
  return omitted === 0 ? lines : [...lines, colors.dim(`and ${omitted} more`)]
}

function connectionLine(connection: RecordedConnection, colors: Colors): string {
  const { host, port, allowed, count, bytesSent, bytesReceived } = connection
  const where = printableLine(`${host}:${port}`, 80)
  const times = count === 1 ? '' : ` (${count} times)`
  const why = printableLine(reasonOf(connection), lineWidth)
  if (!allowed) return `${colors.yellow('refused')} ${where}${times}  ${colors.dim(why)}`
  const bytes = `${bytesSent} bytes out, ${bytesReceived} in`
  return `${colors.green('allowed')} ${where}${times}  ${colors.dim(`${bytes}${why === '' ? '' : `, ${why}`}`)}`
}

function reasonOf({ rule, reason, detail }: RecordedConnection): string {
  return [rule === undefined ? '' : `by "${rule}"`, reason, detail]
    .filter((part) => part !== undefined && part !== '')
    .join(', ')
}
