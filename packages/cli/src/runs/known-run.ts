import type { RunRow, RunStore } from '@smithers/tool-core/log'
import { badInput } from '../errors/command-failure.ts'
import { shownLog } from '../log/log-target.ts'
import { logArgument } from '../terminal/log-argument.ts'

/** A recorded run; fails when the log at `path` has none with this id. */
export async function knownRun(
  { runs }: { readonly runs: RunStore },
  runId: string,
  path: string,
): Promise<RunRow> {
  const [run] = await runs.list({ runId })
  if (run !== undefined) return run
  throw badInput(
    `${shownLog(path)} has no run ${runId}. "smithers runs${logArgument(path)}" lists its runs.`,
  )
}
