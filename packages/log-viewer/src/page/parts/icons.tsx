import type { VNode } from 'preact'
import type { CallOutcome } from '../../api/calls.ts'

/** Paths in a box of 16. Each outcome has a shape of its own, so that colour is never the only sign. */
const paths = {
  ok: 'M3 8.5 6.5 12 13 4.5',
  failed: 'M4 4l8 8M12 4l-8 8',
  refused: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM4.1 4.1l7.8 7.8',
  running: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5',
  unknown: 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.4 8.6 8 9 8 9.8M8 12.6v.2',
  replayed: 'M3 8a5 5 0 1 0 1.6-3.7M3 2.8v2.7h2.7',
  cached:
    'M3 4.5C3 3.4 5.2 2.5 8 2.5s5 .9 5 2-2.2 2-5 2-5-.9-5-2ZM3 4.5v7c0 1.1 2.2 2 5 2s5-.9 5-2v-7M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
  fenced: 'M3 2.5v11M13 2.5v11M3 5.5h10M3 10.5h10M8 2.5v11',
  waiting: 'M5.5 3.5v9M10.5 3.5v9',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.4 10.4 13.5 13.5',
  back: 'M10 3 5 8l5 5',
  close: 'M4 4l8 8M12 4l-8 8',
  chevron: 'M4 6l4 4 4-4',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8Z',
  download: 'M8 2.5v7.5M4.5 7 8 10.5 11.5 7M3 13.5h10',
  inbox: 'M2.5 9 4.5 3h7l2 6v4.5h-11ZM2.5 9h3.3l.9 2h2.6l.9-2h3.3',
  sun: 'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6ZM8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  moon: 'M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6Z',
  system: 'M2.5 3h11v7.5h-11ZM6 13.5h4M8 10.5v3',
  follow: 'M8 2.5V12M4 8.5 8 12.5l4-4',
  help: 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.4 8.6 8 9 8 9.8M8 12.6v.2',
} as const

export type IconName = keyof typeof paths

/** A small drawing beside a word; a screen reader passes over it. */
export function Icon({ name }: { name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}

export const outcomeNames: Readonly<Record<CallOutcome, string>> = {
  ok: 'ok',
  failed: 'failed',
  refused: 'refused',
  running: 'running',
  unknown: 'outcome unknown',
  replayed: 'replayed',
  cached: 'from cache',
  fenced: 'fenced',
  waiting: 'waits for approval',
}

/** How a call ended, as a shape, a word and a colour. */
export function OutcomeBadge({ outcome }: { outcome: CallOutcome }): VNode {
  // An outcome of a newer server has no shape here yet.
  const known = outcome in outcomeNames
  return (
    <span class="badge" data-outcome={outcome}>
      <Icon name={known ? outcome : 'help'} />
      <span>{known ? outcomeNames[outcome] : outcome}</span>
    </span>
  )
}
