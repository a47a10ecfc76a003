import type { ComponentChildren, VNode } from 'preact'
import type { Loadable } from '../model/viewer-state.ts'

/** What a pane says when it has nothing to list. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

/** Lines where text will be: the pane keeps its form while it is read. */
function Skeleton({ lines = 6 }: { lines?: number }): VNode {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  )
}

/** A loadable value: its skeleton, its failure, or itself. */
export function Loaded<Value>({
  from,
  lines,
  children,
}: {
  from: Loadable<Value>
  lines?: number
  children: (value: Value) => ComponentChildren
}): VNode {
  if (from.state === 'loading') return <Skeleton {...(lines === undefined ? {} : { lines })} />
  if (from.state === 'ready') return <>{children(from.value)}</>
  return (
    <div class="empty" role="alert">
      <p class="empty-title">{titles[from.code] ?? 'This cannot be shown'}</p>
      <p>{from.message}</p>
      <p class="faint mono">{from.code}</p>
    </div>
  )
}

const titles: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'This page has no access',
  UNREACHABLE: 'The viewer has stopped',
  NOT_FOUND: 'It is not in the log',
  LOG_UNAVAILABLE: 'The log does not answer',
}
