import type { VNode } from 'preact'
import { loadOlderRuns } from '../model/runs.ts'
import { openRun } from '../model/open-run.ts'
import { useSelected, useViewer } from '../parts/use-viewer.ts'
import { Empty, Loaded } from '../parts/states.tsx'
import { RunRow } from './run-row.tsx'

/** The newest runs, what of them needs a look, and the way to older ones. */
export function RunsPane(): VNode {
  const viewer = useViewer()
  const runs = useSelected((state) => state.runs)
  const runId = useSelected((state) => state.runId)
  const session = useSelected((state) => state.session)
  const offset = useSelected((state) => state.clockOffsetMs)
  return (
    <nav class="pane runs" aria-label="Runs">
      <h2 class="pane-title">Runs</h2>
      <div class="scroll">
        <Loaded from={runs} lines={8}>
          {({ runs: listed, nextCursor }) =>
            listed.length === 0 ? (
              <Empty title="No runs yet">
                <p>A run appears here with its first tool call. This page follows the log.</p>
              </Empty>
            ) : (
              <>
                <ol class="run-list">
                  {listed.map((run) => (
                    <RunRow
                      key={run.runId}
                      run={run}
                      selected={run.runId === runId}
                      nowMs={Date.now() + offset}
                      open={() => {
                        void openRun(viewer, run.runId)
                        viewer.store.set({ pane: 'main' })
                      }}
                    />
                  ))}
                </ol>
                {nextCursor !== null && (
                  <button
                    class="button more"
                    type="button"
                    onClick={() => void loadOlderRuns(viewer)}
                  >
                    Older runs
                  </button>
                )}
                {session.state === 'ready' && !session.value.listsAllRuns && (
                  <p class="note">
                    This log cannot list its runs: these are the ones of its newest{' '}
                    {session.value.newestRows} calls.
                  </p>
                )}
              </>
            )
          }
        </Loaded>
      </div>
    </nav>
  )
}
