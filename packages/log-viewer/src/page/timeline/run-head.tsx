import type { VNode } from 'preact'
import type { CallOutcome, RunResponse } from '../../api/calls.ts'
import type { ExportFormat } from '../../api/exported-run.ts'
import { searchCalls } from '../model/search-calls.ts'
import { say, type ViewerContext } from '../model/viewer-context.ts'
import { selectNewest } from '../model/watch-changes.ts'
import { saveBlob } from '../parts/clipboard.ts'
import { Icon, OutcomeBadge, outcomeNames } from '../parts/icons.tsx'
import { Menu } from '../parts/menu.tsx'
import { useSelected, useViewer } from '../parts/use-viewer.ts'
import { counted, duration, grouped, moment } from '../text/format.ts'
import { visibleLine } from '../text/visible-text.ts'

/** What the run is, how its calls ended, and what can be done with it. */
export function RunHead({ response }: { response: RunResponse }): VNode {
  const viewer = useViewer()
  const follow = useSelected((state) => state.follow)
  const { run, leftOut } = response
  const id = visibleLine(run.runId)
  return (
    <header class="run-head">
      <div class="run-title">
        <h2>{run.name === null ? id : visibleLine(run.name)}</h2>
        <span class="status" data-status={run.status}>
          {statusNames[run.status] ?? run.status}
        </span>
        <div class="tools">
          {viewer.source.kind === 'server' && (
            <>
              <button
                type="button"
                class="button"
                aria-pressed={follow}
                title="Select each new call as it starts"
                onClick={() => {
                  viewer.store.set({ follow: !follow })
                  if (!follow) void selectNewest(viewer)
                }}
              >
                <Icon name="follow" />
                <span>Follow</span>
              </button>
              <Menu label="Export" icon="download" items={exportItems(viewer, response)} />
            </>
          )}
        </div>
      </div>
      <p class="run-meta faint">
        {run.name !== null && <span class="mono">{id}</span>}
        <time>{moment(run.startedAtMs)}</time>
        {run.finishedAtMs !== null && <span>{duration(run.finishedAtMs - run.startedAtMs)}</span>}
        <span>{counted(run.counts.calls, 'call')}</span>
      </p>
      <OutcomeChips response={response} />
      {run.error !== null && <p class="run-error">{visibleLine(run.error)}</p>}
      {viewer.source.lacks !== null && <p class="note">{viewer.source.lacks}</p>}
      {leftOut > 0 && (
        <p class="note">
          The {counted(leftOut, 'oldest call')} of this run are not shown. Search finds them.
        </p>
      )}
    </header>
  )
}

const statusNames: Readonly<Record<string, string>> = { 'calls-only': 'calls only' }

/** How many calls ended how; each opens the list of those calls. */
function OutcomeChips({ response }: { response: RunResponse }): VNode {
  const viewer = useViewer()
  const sums = new Map<CallOutcome, number>()
  for (const { counts } of response.groups) {
    for (const outcome of Object.keys(outcomeNames) as CallOutcome[]) {
      const count = counts[outcome] ?? 0
      if (count > 0) sums.set(outcome, (sums.get(outcome) ?? 0) + count)
    }
  }
  return (
    <p class="chips">
      {[...sums].map(([outcome, count]) => (
        <button
          key={outcome}
          type="button"
          class="chip"
          title={`List the calls of this run with the outcome "${outcomeNames[outcome]}"`}
          onClick={() =>
            void searchCalls(viewer, `run:${quoted(response.run.runId)} is:${outcome}`)
          }
        >
          <b>{grouped(count)}</b> <OutcomeBadge outcome={outcome} />
        </button>
      ))}
    </p>
  )
}

function quoted(text: string): string {
  return /^[\w.:-]+$/.test(text) ? text : `"${text.replaceAll('"', '')}"`
}

function exportItems(viewer: ViewerContext, { run, leftOut }: RunResponse) {
  const item = (label: string, hint: string, format: ExportFormat, ending: string) => ({
    label,
    hint,
    choose: () => {
      void save(viewer, { runId: run.runId, leftOut, format, ending })
    },
  })
  return [
    item('One HTML file', 'this page, works without a server', 'html', 'html'),
    item('JSON Lines', 'a line for each row of the log', 'jsonl', 'jsonl'),
    item('OTLP JSON', 'spans for a collector', 'otlp', 'otlp.json'),
  ]
}

interface Exported {
  readonly runId: string
  readonly leftOut: number
  readonly format: ExportFormat
  readonly ending: string
}

async function save(
  viewer: ViewerContext,
  { runId, leftOut, format, ending }: Exported,
): Promise<void> {
  try {
    const blob = await viewer.source.exportRun(runId, format)
    const name = runId.replace(/[^\w.-]+/g, '-').slice(0, 80)
    saveBlob(blob, `smithers-${name}.${ending}`)
    say(viewer, exportedText(leftOut))
  } catch (error) {
    say(viewer, error instanceof Error ? error.message : 'The export failed.')
  }
}

function exportedText(leftOut: number): string {
  return leftOut === 0 ? 'Exported.' : `Exported, without the ${counted(leftOut, 'oldest call')}.`
}
