import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import type { CallSummary } from '../../api/calls.ts'
import type { SearchResponse } from '../../api/search.ts'
import { searchCalls, searchOn } from '../model/search-calls.ts'
import { selectCall } from '../model/select-call.ts'
import { Icon, OutcomeBadge } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { useSelected, useViewer } from '../parts/use-viewer.ts'
import { counted, duration, moment } from '../text/format.ts'
import { visibleLine } from '../text/visible-text.ts'

/** The calls that match, of all runs, newest first. */
export function SearchResults(): VNode {
  const viewer = useViewer()
  const found = useSelected((state) => state.found)
  return (
    <section class="results" aria-label="Search results">
      <header class="run-head">
        <div class="run-title">
          <h2>Search</h2>
          <div class="tools">
            <button type="button" class="button" onClick={() => void searchCalls(viewer, '')}>
              <Icon name="back" />
              <span>Calls</span>
            </button>
          </div>
        </div>
        <Loaded from={found} lines={1}>
          {(answer) => <Understood answer={answer} />}
        </Loaded>
      </header>
      {found.state === 'ready' && <Hits answer={found.value} />}
    </section>
  )
}

function Understood({ answer }: { answer: SearchResponse }): VNode {
  const { calls, terms, problems, nextCursor } = answer
  return (
    <>
      <p class="run-meta faint" role="status">
        <span>
          {counted(calls.length, 'call')}
          {nextCursor === null ? '' : ' so far'}
        </span>
        {terms.map(({ field, value, excluded }) => (
          <span key={`${field}:${value}`} class="term">
            {excluded && 'not '}
            {field === 'text' ? '' : `${visibleLine(field)}: `}
            {visibleLine(value)}
          </span>
        ))}
      </p>
      {problems.map((problem) => (
        <p key={problem} class="problem">
          {visibleLine(problem)}
        </p>
      ))}
    </>
  )
}

function Hits({ answer }: { answer: SearchResponse }): VNode {
  const viewer = useViewer()
  const callToken = useSelected((state) => state.callToken)
  const list = useRef<HTMLDivElement>(null)
  const { calls, nextCursor, stopped, examined } = answer
  return (
    <div class="scroll" ref={list}>
      {calls.length === 0 && (
        <Empty title="No call matches">
          <p>
            {stopped
              ? `${counted(examined, 'call')} looked at so far.`
              : 'Words must occur in the name, arguments, output, error, key or trace of a call.'}
          </p>
        </Empty>
      )}
      <ol class="hit-list">
        {calls.map((call) => (
          <li key={call.callToken}>
            <Hit
              call={call}
              selected={call.callToken === callToken}
              select={() => void selectCall(viewer, call.callToken)}
            />
          </li>
        ))}
      </ol>
      {nextCursor !== null && (
        <button type="button" class="button more" onClick={() => void searchOn(viewer)}>
          {stopped ? 'Search on' : 'More calls'}
        </button>
      )}
    </div>
  )
}

interface HitProps {
  readonly call: CallSummary
  readonly selected: boolean
  readonly select: () => void
}

function Hit({ call, selected, select }: HitProps): VNode {
  const { startedAtMs, finishedAtMs, attempt } = call
  return (
    <button
      type="button"
      class="request"
      data-token={call.callToken}
      aria-current={selected ? 'true' : undefined}
      onClick={select}
    >
      <span class="run-top">
        <span class="tool mono">{visibleLine(call.toolName)}</span>
        <span class="summary">{visibleLine(call.summary)}</span>
        <OutcomeBadge outcome={call.outcome} />
      </span>
      <span class="faint run-facts">
        <time>{moment(startedAtMs)}</time>
        {finishedAtMs !== null && <span>{duration(finishedAtMs - startedAtMs)}</span>}
        <span>
          {visibleLine(call.nodeId)}, attempt {attempt}
        </span>
        <span class="mono">{visibleLine(call.runId)}</span>
      </span>
    </button>
  )
}
