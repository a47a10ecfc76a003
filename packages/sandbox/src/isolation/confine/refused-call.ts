import { relative } from 'node:path'
import { isWithin } from '../../path-rules/path-order.ts'
import type { Violation } from '../../path-rules/violation.ts'
import type { SystemCallNumbers } from '../bubblewrap/seccomp-table.ts'
import type { CommandAccess } from '../isolation-policy.ts'
import {
  connectCall,
  metadataCalls,
  priorityCalls,
  signalCalls,
  steeringCalls,
  truncateCall,
} from './call-numbers.ts'

/** Of which command a call was refused. */
export interface RefusedCommand {
  readonly rootDir: string
  readonly access: CommandAccess
}

/** What a call that the supervisor refused is called, and why it was refused. */
export function refusedCall(
  number: number,
  what: string,
  { rootDir, access }: RefusedCommand,
): Violation {
  const name = names().get(number) ?? `system call ${number}`
  if (number === numberOf(connectCall)) {
    return {
      rule: 'network',
      subject: what,
      message: `The command tried to connect to ${what}. It may connect only to sockets in its root; run the server inside the root.`,
    }
  }
  if (otherProcesses.has(name)) {
    return {
      rule: 'processes',
      subject: name,
      message: `The command called ${name} on a process that it did not start. It may reach only its own processes.`,
    }
  }
  if (access === 'read' && isWithin(what, rootDir)) {
    const subject = relative(rootDir, what) || '.'
    const message = `The command called ${name} on ${subject}, and it may change nothing: it was run with access: 'read'.`
    return { rule: 'files', subject, message }
  }
  return {
    rule: 'files',
    subject: what,
    message: `The command called ${name} on ${what}, which lies outside its root. Modes, owners, times and attributes can be changed only in the root.`,
  }
}

const otherProcesses = new Set([
  ...Object.keys(steeringCalls),
  ...Object.keys(priorityCalls),
  ...Object.keys(signalCalls),
])

function numberOf(numbers: SystemCallNumbers): number | null {
  return numbers[process.arch === 'x64' ? 0 : 1]
}

let known: ReadonlyMap<number, string> | undefined

function names(): ReadonlyMap<number, string> {
  known ??= new Map(
    [
      ...Object.entries(metadataCalls),
      ...Object.entries(signalCalls),
      ...Object.entries({ ...steeringCalls, ...priorityCalls }).map(
        ([name, { numbers }]) => [name, numbers] as const,
      ),
      ['truncate', truncateCall] as const,
    ].flatMap(([name, numbers]) => {
      const number = numberOf(numbers)
      return number === null ? [] : [[number, name] as const]
    }),
  )
  return known
}
