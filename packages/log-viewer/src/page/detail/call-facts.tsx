import type { VNode } from 'preact'
import type { CallDetail } from '../../api/call-detail.ts'
import { copyText } from '../parts/clipboard.ts'
import { Icon } from '../parts/icons.tsx'
import { useViewer } from '../parts/use-viewer.ts'
import { duration, moment } from '../text/format.ts'
import { visibleLine } from '../text/visible-text.ts'

interface Fact {
  readonly name: string
  readonly value: string | null
  /** A long identifier, with a button that copies it. */
  readonly copied?: boolean
}

/** Times, kind and identifiers. */
export function CallFacts({ call }: { call: CallDetail }): VNode {
  const viewer = useViewer()
  return (
    <dl class="facts">
      {factsOf(call)
        .filter(({ value }) => value !== null)
        .map(({ name, value, copied }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={copied === true ? 'mono' : undefined}>
              <span>{visibleLine(value ?? '')}</span>
              {copied === true && (
                <button
                  type="button"
                  class="button small quiet"
                  aria-label={`Copy: ${name}`}
                  onClick={() => void copyText(viewer, value ?? '', name.toLowerCase())}
                >
                  <Icon name="copy" />
                </button>
              )}
            </dd>
          </div>
        ))}
    </dl>
  )
}

function factsOf(call: CallDetail): readonly Fact[] {
  const { summary } = call
  const { startedAtMs, finishedAtMs } = summary
  return [
    { name: 'Started', value: moment(startedAtMs) },
    { name: 'Ended', value: finishedAtMs === null ? null : moment(finishedAtMs) },
    { name: 'Took', value: finishedAtMs === null ? null : duration(finishedAtMs - startedAtMs) },
    { name: 'Waited', value: waitsOf(call) },
    { name: 'Kind', value: kindOf(call) },
    { name: 'Effect', value: summary.effect },
    { name: 'Key', value: call.idempotencyKey, copied: true },
    {
      name: 'Same arguments',
      value: call.occurrence === 0 ? null : `call ${call.occurrence + 1} with them in this task`,
    },
    { name: 'Model’s call id', value: call.toolCallId, copied: true },
    { name: 'Trace id', value: call.traceId, copied: true },
    { name: 'Span id', value: call.spanId, copied: true },
    { name: 'Arguments hash', value: call.inputHash, copied: true },
    { name: 'Process', value: call.ownerId },
    {
      name: 'Lease until',
      value:
        call.leaseExpiresAtMs === null || finishedAtMs !== null
          ? null
          : moment(call.leaseExpiresAtMs),
    },
    { name: 'Call token', value: summary.callToken, copied: true },
  ]
}

function waitsOf({ summary }: CallDetail): string | null {
  const waits = summary.segments.filter(({ kind, toMs }) => kind !== 'run' && toMs !== null)
  if (waits.length === 0) return null
  return waits
    .map(({ kind, fromMs, toMs }) => {
      const why = kind === 'approval' ? 'for approval' : 'for an equal call'
      return `${duration((toMs ?? fromMs) - fromMs)} ${why}`
    })
    .join(', ')
}

function kindOf({ summary, idempotent, effectScope }: CallDetail): string {
  if (!summary.sideEffect) return 'reads only'
  const where = effectScope === null ? '' : ` (${effectScope})`
  return `side effect${where}, ${idempotent ? 'safe to repeat' : 'not known to be safe to repeat'}`
}
