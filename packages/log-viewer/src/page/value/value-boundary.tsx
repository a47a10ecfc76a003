import { Component, type ComponentChildren } from 'preact'

interface Props {
  /** What could not be shown, for the message. */
  readonly what: string
  /** The text as it is in the log, shown instead. */
  readonly raw?: string | null
  readonly children: ComponentChildren
}

/** Keeps a value that cannot be rendered from taking the page with it. */
export class ValueBoundary extends Component<Props, { readonly failed: boolean }> {
  override state: { readonly failed: boolean } = { failed: false }

  static override getDerivedStateFromError(): { readonly failed: boolean } {
    return { failed: true }
  }

  override componentDidUpdate(before: Props): void {
    // Another value gets a chance of its own.
    if (this.state.failed && before.raw !== this.props.raw) this.setState({ failed: false })
  }

  override render(): ComponentChildren {
    const { what, raw, children } = this.props
    if (!this.state.failed) return children
    return (
      <div class="value-failed">
        <p>{what} cannot be shown here.</p>
        {typeof raw === 'string' && <pre class="text-block">{raw.slice(0, 10_000)}</pre>}
      </div>
    )
  }
}
