import { type CallEffect, isSmithersError, isToolError } from '../errors/smithers-error.ts'
import type { EffectScope } from '../log/tool-call-row.ts'
import type { TaskContext } from '../contract/task-context.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'

/**
 * What an error says of an effect, it says of the call that made it. A tool that pays, and then calls another one that
 * fails harmlessly, must not be taken for harmless: so errors that leave a call are remembered by when they did.
 *
 * One table for every copy of this package in the process.
 */
interface Departures {
  readonly at: WeakMap<object, number>
  readonly adopted: WeakSet<object>
  count: number
}

const key: unique symbol = Symbol.for('smithers.error.departures') as never
const shared = globalThis as { [key]?: Departures }
const departures: Departures = (shared[key] ??= {
  at: new WeakMap(),
  adopted: new WeakSet(),
  count: 0,
})

/** A moment that {@link effectOfError} compares with: what leaves a call from now on is another call's. */
export function departuresUntilNow(): number {
  return departures.count
}

/** An error leaves the call, or the run, that it is of. */
export function depart(error: unknown): void {
  if (typeof error !== 'object' || error === null) return
  departures.count += 1
  departures.at.set(error, departures.count)
}

/**
 * Lets a tool vouch for an error of a library that it called, such as the sandbox: what the error says of its effect
 * then holds for the whole call. Only for a tool that has done nothing else before.
 *
 * @returns The error, to be thrown.
 * @example
 * await sandbox.files.write(path, text).catch((error) => { throw adoptError(error) })
 */
export function adoptError(error: unknown): unknown {
  if (typeof error === 'object' && error !== null) departures.adopted.add(error)
  return error
}

/**
 * Marks an error as that of work which has ended, such as a run within a tool: what it says of its effect does not count
 * for the tool that lets it through.
 *
 * @returns The error, to be thrown.
 */
export function disownError(error: unknown): unknown {
  depart(error)
  return error
}

/** What a call that threw may have done, or undefined when its error does not say. */
export function effectOfError(
  error: unknown,
  call: { readonly since: number; readonly reasons: readonly unknown[] },
): CallEffect | undefined {
  if (!isSmithersError(error) || error.effect === undefined) return undefined
  if (error.effect !== 'none') return error.effect
  if (call.reasons.includes(error)) return undefined
  if ((departures.at.get(error) ?? 0) > call.since) return undefined
  return isToolError(error) || departures.adopted.has(error) ? 'none' : undefined
}

/**
 * Where the effect of a call lands, for its row: a later attempt may have other settings, such as no network, which say
 * nothing about the calls of this one. External, which a warning lists in full, when the tool cannot say.
 */
export function effectScopeOf(
  { metadata, effectScope }: ToolDefinition,
  task: TaskContext,
): EffectScope | null {
  if (!metadata.sideEffect) return null
  if (typeof effectScope !== 'function') return effectScope
  try {
    return effectScope(task) === 'workspace' ? 'workspace' : 'external'
  } catch {
    return 'external'
  }
}
