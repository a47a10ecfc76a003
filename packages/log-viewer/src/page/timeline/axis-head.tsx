import type { VNode } from 'preact'
import type { Tick } from './time-axis.ts'

interface AxisHeadProps {
  readonly ticks: readonly Tick[]
  readonly zoomed: boolean
  readonly reset: () => void
}

/** The head of the columns, with the times of the axis that all lanes share. */
export function AxisHead({ ticks, zoomed, reset }: AxisHeadProps): VNode {
  return (
    <div class="axis">
      <span class="axis-label">#</span>
      <span class="axis-label axis-call">
        <span>Call</span>
        {zoomed && (
          <button type="button" class="button small" onClick={reset}>
            Whole run <kbd>0</kbd>
          </button>
        )}
      </span>
      <div class="lane axis-ticks" title="Drag to zoom in; press 0 for the whole run">
        {ticks.filter(hasRoom).map(({ percent, label }) => (
          <span key={label} style={{ left: `${percent}%` }}>
            {label}
          </span>
        ))}
      </div>
      <span class="axis-label axis-took">Took</span>
      <span class="axis-label">Outcome</span>
      <svg class="defs" width="0" height="0" aria-hidden="true">
        <defs>
          <pattern
            id="hatch"
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect class="hatch-line" width="2" height="5" />
          </pattern>
        </defs>
      </svg>
    </div>
  )
}

/** A label that begins near the end would run into the next column. */
function hasRoom({ percent }: Tick): boolean {
  return percent < 88
}
