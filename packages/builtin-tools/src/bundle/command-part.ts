import { basename } from 'node:path'
import type { RunResult } from '@smithers/sandbox'
import { beginCallPart, type CallPart, type ToolContext } from '@smithers/tool-core'
import type { BundleOptions } from './bundle-options.ts'

/** Begins the part of a call that a command takes: for telemetry, under the command's own name, without its arguments. */
export function beginCommandPart(ctx: ToolContext, program: string): CallPart {
  const name = nameOf(program)
  return beginCallPart(ctx, `bash ${name}`, { 'process.command': name })
}

/** The command has ended. */
function endCommandPart(
  part: CallPart,
  { status, exitCode, enforced }: RunResult,
  successes: readonly number[] = [0],
): void {
  part.end(
    {
      'smithers.command.status': status,
      'smithers.sandbox.backend': enforced.backend,
      'smithers.sandbox.files': enforced.files,
      'smithers.sandbox.network': enforced.network,
      ...(exitCode !== null && { 'process.exit.code': exitCode }),
    },
    status !== 'exited' || !successes.includes(exitCode ?? -1),
  )
}

/** A model may write anything in place of a program; what is no usual name of one could hold a secret. */
function nameOf(program: string): string {
  const name = basename(program)
  return /^[\w.+-]{1,64}$/.test(name) ? name : 'command'
}

/** Waits for a command, and ends its part however that ends. */
export async function endedCommand(
  part: CallPart,
  running: Promise<RunResult>,
  successes?: readonly number[],
): Promise<RunResult> {
  try {
    const result = await running
    endCommandPart(part, result, successes)
    return result
  } catch (error) {
    part.end({}, true)
    throw error
  }
}

/** Variables that lead what a command traces to its call. What the bundle sets itself wins. */
export function traceEnvironment(
  { traceContext }: CallPart,
  { env }: BundleOptions,
): Readonly<Record<string, string>> {
  const { traceparent, tracestate } = traceContext
  return {
    ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
    ...(tracestate !== undefined && { TRACESTATE: tracestate }),
    ...env?.set,
  }
}
