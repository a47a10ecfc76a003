import type { VNode } from 'preact'
import type { ApprovalView } from '../../api/approvals.ts'
import { Loaded, Empty } from '../parts/states.tsx'
import { Icon } from '../parts/icons.tsx'
import { useNow } from '../parts/use-now.ts'
import { useSelected, useViewer } from '../parts/use-viewer.ts'
import { age, moment } from '../text/format.ts'
import { visibleLine } from '../text/visible-text.ts'

/** What waits for a decision, oldest first. */
export function ApprovalsInbox(): VNode {
  const { store } = useViewer()
  const approvals = useSelected((state) => state.approvals)
  const approvalId = useSelected((state) => state.approvalId)
  const offset = useSelected((state) => state.clockOffsetMs)
  const session = useSelected((state) => state.session)
  const nowMs = useNow(10_000) + offset
  const keepsThem = session.state !== 'ready' || session.value.hasApprovals
  return (
    <section class="inbox" aria-label="Approvals">
      <header class="run-head">
        <div class="run-title">
          <h2>Approvals</h2>
          <div class="tools">
            <button type="button" class="button" onClick={() => store.set({ main: 'timeline' })}>
              <Icon name="back" />
              <span>Calls</span>
            </button>
          </div>
        </div>
        <p class="run-meta faint">What waits for a decision, oldest first</p>
      </header>
      <div class="scroll">
        <Loaded from={approvals} lines={4}>
          {(waiting) =>
            waiting.length === 0 ? (
              <Empty title="Nothing waits">
                <p>
                  {keepsThem
                    ? 'A call that needs approval appears here before it runs.'
                    : 'This log keeps no requests for approval.'}
                </p>
              </Empty>
            ) : (
              <ol class="request-list">
                {waiting.map((request) => (
                  <li key={request.id}>
                    <RequestRow
                      request={request}
                      selected={request.id === approvalId}
                      nowMs={nowMs}
                      select={() =>
                        store.set({ approvalId: request.id, detailOpen: true, pane: 'detail' })
                      }
                    />
                  </li>
                ))}
              </ol>
            )
          }
        </Loaded>
      </div>
    </section>
  )
}

interface RequestRowProps {
  readonly request: ApprovalView
  readonly selected: boolean
  readonly nowMs: number
  readonly select: () => void
}

function RequestRow({ request, selected, nowMs, select }: RequestRowProps): VNode {
  const { toolName, requestedAtMs, prompt, inputJson, nodeId, runId, mustConfirm } = request
  return (
    <button
      type="button"
      class="request"
      aria-current={selected ? 'true' : undefined}
      onClick={select}
    >
      <span class="run-top">
        <span class="tool mono">{visibleLine(toolName)}</span>
        <time class="faint" title={moment(requestedAtMs)}>
          {age(requestedAtMs, nowMs)}
        </time>
      </span>
      <span class="summary">{visibleLine((prompt ?? inputJson ?? '').slice(0, 300))}</span>
      <span class="faint run-facts">
        <span>{visibleLine(nodeId)}</span>
        <span class="mono">{visibleLine(runId)}</span>
        {mustConfirm && <span>not safe to repeat</span>}
      </span>
    </button>
  )
}
