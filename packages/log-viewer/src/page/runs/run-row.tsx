import type { VNode } from 'preact'
import type { RunSummary } from '../../api/runs.ts'
import { age, counted, duration, moment } from '../text/format.ts'
import { visibleLine } from '../text/visible-text.ts'
import { Icon, type IconName } from '../parts/icons.tsx'

interface RunRowProps {
  readonly run: RunSummary
  readonly selected: boolean
  readonly nowMs: number
  readonly open: () => void
}

/** One run: its name, its age, and badges for what needs a look. */
export function RunRow({ run, selected, nowMs, open }: RunRowProps): VNode {
  const badges = badgesOf(run)
  const id = visibleLine(run.runId)
  return (
    <li>
      <button
        type="button"
        class="run"
        aria-current={selected ? 'true' : undefined}
        title={run.error === null ? id : `${id}\n${visibleLine(run.error)}`}
        onClick={open}
      >
        <span class="run-top">
          <span class="run-name">{run.name === null ? id : visibleLine(run.name)}</span>
          <time class="faint" title={moment(run.startedAtMs)}>
            {age(run.startedAtMs, nowMs)}
          </time>
        </span>
        <span class="run-facts faint">
          {run.name !== null && <span class="mono run-id">{id}</span>}
          <span>{counted(run.counts.calls, 'call')}</span>
          {run.finishedAtMs !== null && <span>{duration(run.finishedAtMs - run.startedAtMs)}</span>}
        </span>
        {badges.length > 0 && (
          <span class="run-badges">
            {badges.map(({ outcome, icon, text }) => (
              <span key={text} class="badge" data-outcome={outcome}>
                <Icon name={icon} />
                <span>{text}</span>
              </span>
            ))}
          </span>
        )}
      </button>
    </li>
  )
}

interface RunBadge {
  readonly outcome: string
  readonly icon: IconName
  readonly text: string
}

function badgesOf({ status, counts }: RunSummary): RunBadge[] {
  const badges: (RunBadge | false)[] = [
    counts.unknown > 0 && {
      outcome: 'unknown',
      icon: 'unknown',
      text: `${counts.unknown} unknown`,
    },
    counts.waits > 0 && { outcome: 'waiting', icon: 'waiting', text: `${counts.waits} waiting` },
    (status === 'running' || counts.running > 0) && {
      outcome: 'running',
      icon: 'running',
      text: counts.running > 0 ? `${counts.running} running` : 'running',
    },
    status === 'failed' && { outcome: 'failed', icon: 'failed', text: 'run failed' },
    status === 'stopped' && { outcome: 'refused', icon: 'refused', text: 'stopped' },
    status === 'queued' && { outcome: 'waiting', icon: 'waiting', text: 'queued' },
    counts.failed > 0 && { outcome: 'failed', icon: 'failed', text: `${counts.failed} failed` },
    (counts.refused ?? 0) > 0 && {
      outcome: 'refused',
      icon: 'refused',
      text: `${counts.refused ?? 0} refused`,
    },
  ]
  return badges.filter((badge) => badge !== false)
}
