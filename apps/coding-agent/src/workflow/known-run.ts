import type { RunRow, RunStore } from '@smithers/tool-core/log'
import { badInput } from '../command-failure.ts'
import { logArgument } from '../commands/log-option.ts'

/** A recorded run; fails when the log at `path` has none with this id. */
export async function knownRun(
  { runs }: { readonly runs: RunStore },
  runId: string,
  path: string,
): Promise<RunRow> {
  const [run] = await runs.list({ runId })
  if (run !== undefined) return run
  throw badInput(`${path} has no run ${runId}. "smithers runs${logArgument(path)}" lists its runs.`)
}
