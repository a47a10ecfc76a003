import type { VNode } from 'preact'
import { ApprovalCard } from '../approvals/approval-card.tsx'
import { valueOf } from '../model/viewer-state.ts'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { useSelected, useViewer } from '../parts/use-viewer.ts'
import { ValueBoundary } from '../value/value-boundary.tsx'
import { CallDetails } from './call-details.tsx'

/** The selected call, or the selected request of the inbox. */
export function DetailPane(): VNode {
  const { store } = useViewer()
  const main = useSelected((state) => state.main)
  const open = useSelected((state) => state.detailOpen)
  return (
    <aside
      class="pane detail"
      aria-label={main === 'approvals' ? 'Request' : 'Call'}
      data-open={open ? '' : undefined}
    >
      <div class="detail-bar">
        <button
          type="button"
          class="button quiet back"
          onClick={() => store.set({ detailOpen: false, pane: 'main' })}
        >
          <Icon name="back" />
          <span>{main === 'approvals' ? 'Approvals' : 'Calls'}</span>
        </button>
        <button
          type="button"
          class="button quiet close"
          aria-label="Close the detail"
          onClick={() => store.set({ detailOpen: false, pane: 'main' })}
        >
          <Icon name="close" />
        </button>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Detail">
        {main === 'approvals' ? <SelectedApproval /> : <SelectedCall />}
      </div>
    </aside>
  )
}

function SelectedCall(): VNode {
  const callToken = useSelected((state) => state.callToken)
  const detail = useSelected((state) => state.detail)
  if (callToken === null) {
    return (
      <Empty title="No call selected">
        <p>
          Press <kbd>j</kbd> for the first call, <kbd>u</kbd> for the next whose outcome is unknown,{' '}
          <kbd>?</kbd> for all keys.
        </p>
      </Empty>
    )
  }
  return (
    <Loaded from={detail} lines={10}>
      {(call) => (
        <ValueBoundary key={callToken} what="This call">
          <CallDetails call={call} />
        </ValueBoundary>
      )}
    </Loaded>
  )
}

function SelectedApproval(): VNode {
  const approvalId = useSelected((state) => state.approvalId)
  const approvals = useSelected((state) => state.approvals)
  const shown = valueOf(approvals)?.find(({ id }) => id === approvalId)
  if (shown === undefined) {
    return (
      <Empty title="No request selected">
        <p>What an agent asks to do is shown here before anything runs.</p>
      </Empty>
    )
  }
  return (
    <ValueBoundary key={shown.id} what="This request">
      <ApprovalCard approval={shown} inInbox />
    </ValueBoundary>
  )
}
