import { registeredTelemetry, type ToolTelemetry, type TracedWork } from '../contract/telemetry.ts'
import { runWatched, watched } from './watched.ts'

/**
 * Runs a workflow, or an attempt of one of its tasks, with its span as the active one. For engines of workflows: calls of
 * tools watch themselves.
 *
 * @param fn Is given a function that names the work, for an engine that learns the name only then.
 * @param telemetry As the option of a run has it. @default what `registerToolTelemetry` was given
 */
export async function traceWork<Result>(
  telemetry: ToolTelemetry | false | undefined,
  work: TracedWork,
  fn: (onName: (name: string) => void) => Promise<Result>,
): Promise<Result> {
  const chosen = telemetry ?? registeredTelemetry()
  if (chosen === undefined || chosen === false) return fn(ignore)
  const watching = watched(chosen, () => chosen.beginWork?.(work))
  if (watching === undefined) return fn(ignore)
  const onName = (name: string): void => {
    watched(chosen, () => watching.rename?.(name))
  }
  try {
    const result = await runWatched(
      chosen,
      (inner) => watching.run(inner),
      () => fn(onName),
    )
    watched(chosen, () => watching.end(undefined))
    return result
  } catch (error) {
    watched(chosen, () => watching.end(error))
    throw error
  }
}

function ignore(): void {}
