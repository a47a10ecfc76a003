import type { ComponentChildren, VNode } from 'preact'

interface SectionProps {
  readonly title: string
  /** Said beside the title. */
  readonly note?: string | null
  readonly children: ComponentChildren
}

/** A titled part of the detail. */
export function Section({ title, note = null, children }: SectionProps): VNode {
  return (
    <section class="section">
      <h3>
        {title}
        {note !== null && <small>{note}</small>}
      </h3>
      {children}
    </section>
  )
}
