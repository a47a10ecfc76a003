import type { VNode } from 'preact'
import type { CallGroup } from '../../api/calls.ts'
import { Icon, type IconName } from '../parts/icons.tsx'
import { clockTime, counted, duration } from '../text/format.ts'
import { visibleLine } from '../text/visible-text.ts'

interface GroupHeadProps {
  readonly group: CallGroup
  readonly newTask: boolean
  /** Shows this attempt alone on the axis. */
  readonly zoom: () => void
}

/** The head of an attempt: which task, which try, how many calls. */
export function GroupHead({ group, newTask, zoom }: GroupHeadProps): VNode {
  const { nodeId, iteration, attempt, count, startedAtMs, finishedAtMs, end } = group
  return (
    <div class="group-head" data-new={newTask ? '' : undefined}>
      <span class="task">{visibleLine(nodeId)}</span>
      {iteration > 0 && <span class="faint">iteration {iteration + 1}</span>}
      <span class={attempt > 1 ? 'attempt again' : 'attempt'}>attempt {attempt}</span>
      <span class="faint">{counted(count, 'call')}</span>
      <button
        type="button"
        class="group-time"
        title="Show this attempt alone on the axis"
        tabIndex={-1}
        onClick={zoom}
      >
        <small>{clockTime(startedAtMs)} · </small>
        {finishedAtMs !== null && duration(finishedAtMs - startedAtMs)}
        {finishedAtMs !== null && end.kind === 'finished' && ' · '}
        {end.kind === 'finished' && 'finished'}
        {end.kind === 'running' && 'running'}
      </button>
    </div>
  )
}

const endIcons: Readonly<Record<string, IconName>> = {
  failed: 'failed',
  interrupted: 'refused',
  lost: 'unknown',
  waiting: 'waiting',
}

/** The boundary under an attempt: why it ended. */
export function GroupEnd({ group }: { group: CallGroup }): VNode {
  const { end, attempt } = group
  return (
    <div class="group-end" data-end={end.kind}>
      <Icon name={endIcons[end.kind] ?? 'help'} />
      <span class="group-end-text" title={visibleLine(end.text)}>
        <b>Attempt {attempt}:</b> {visibleLine(end.text)}
      </span>
      {end.code !== null && <code>{visibleLine(end.code)}</code>}
    </div>
  )
}
