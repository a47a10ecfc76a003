import type { NetworkDecision, RunResult } from '@smithers/sandbox'
import { duration } from './call-line.ts'
import { printableLine } from './printable.ts'
import type { Colors } from './terminal.ts'

const lineWidth = 200

/** What came of a command in the sandbox, one fact a line. */
export function execReport(result: RunResult, seesNetwork: boolean, colors: Colors): string[] {
  const { enforced, violations, network, hint, error } = result
  const { backend, limits, ...properties } = enforced
  const states = [...Object.entries(properties), ...Object.entries(limits)]
  const shown = states.map(([what, how]) => `${what} ${String(how)}`).join(', ')
  return [
    `smithers: ${outcomeOf(result)}, ${duration(result.durationMs)}`,
    ...(error === undefined
      ? []
      : [colors.yellow(`  ${line(`${error.message} (${error.code})`)}`)]),
    colors.dim(`  sandbox  ${backend}: ${shown}`),
    ...networkLines(network?.decisions ?? [], network?.omitted ?? 0, seesNetwork, colors),
    ...violations.map(({ rule, message }) => colors.yellow(`  ${rule}  ${line(message)}`)),
    ...(hint === undefined ? [] : [`  ${line(hint)}`]),
  ]
}

function outcomeOf({ status, exitCode, signal }: RunResult): string {
  if (status === 'exited') return `exit code ${exitCode ?? 'unknown'}`
  return signal === null ? status : `${status} by ${signal}`
}

function networkLines(
  decisions: readonly NetworkDecision[],
  omitted: number,
  seesNetwork: boolean,
  colors: Colors,
): string[] {
  if (!seesNetwork) return []
  if (decisions.length === 0) return [colors.dim('  network  asked for nothing')]
  const lines = decisions.map((decision) => {
    const { host, port, allowed, reason, bytesSent, bytesReceived } = decision
    const where = printableLine(`${host}:${port}`, 80)
    return allowed
      ? `  network  ${colors.green('allowed')} ${where}  ${bytesSent} bytes out, ${bytesReceived} in`
      : `  network  ${colors.yellow('refused')} ${where}  ${reason ?? ''}`.trimEnd()
  })
  return omitted === 0 ? lines : [...lines, colors.dim(`  network  and ${omitted} more`)]
}

function line(text: string): string {
  return printableLine(text, lineWidth)
}
