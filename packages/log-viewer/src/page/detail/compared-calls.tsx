import type { VNode } from 'preact'
import type { CallDetail, ComparedCall } from '../../api/call-detail.ts'
import { goToCall } from '../model/select-call.ts'
import { OutcomeBadge } from '../parts/icons.tsx'
import { useViewer } from '../parts/use-viewer.ts'
import { clockTime } from '../text/format.ts'
import { Difference } from '../value/difference.tsx'
import { JsonValue } from '../value/json-value.tsx'
import { ValueBoundary } from '../value/value-boundary.tsx'
import { Section } from '../parts/section.tsx'

/** The calls that this one should be compared with, and what differs. */
export function ComparedCalls({ call }: { call: CallDetail }): VNode {
  const { attemptBefore, sameKey, replayedOriginal, sameKeyCount } = call
  const key = sameKey.filter(
    ({ summary }) => summary.callToken !== replayedOriginal?.summary.callToken,
  )
  const left = sameKeyCount - 1 - sameKey.length
  return (
    <>
      {replayedOriginal !== null && (
        <Section title="Replayed from" note="this call returned the output of that one">
          <Compared call={call} other={replayedOriginal} open={false} withOutput />
        </Section>
      )}
      {attemptBefore !== null && (
        <Section title="The attempt before" note="the most similar call of this tool">
          <Compared call={call} other={attemptBefore} open />
        </Section>
      )}
      {key.length > 0 && (
        <Section title="Same key" note={left > 0 ? `the newest of ${sameKeyCount}` : null}>
          {key.map((other, index) => (
            <Compared
              key={other.summary.callToken}
              call={call}
              other={other}
              open={index === 0 && attemptBefore === null}
            />
          ))}
        </Section>
      )}
    </>
  )
}

interface ComparedProps {
  readonly call: CallDetail
  readonly other: ComparedCall
  readonly open: boolean
  readonly withOutput?: boolean
}

function Compared({ call, other, open, withOutput = false }: ComparedProps): VNode {
  const viewer = useViewer()
  const { summary, sameArguments, inputJson, outputJson } = other
  const comparable = inputJson !== null && call.inputJson !== null
  const differ = sameArguments === false || (sameArguments === null && comparable)
  return (
    <div class="compared">
      <div class="compared-head">
        <button
          type="button"
          class="link"
          title="Go to that call"
          onClick={() => void goToCall(viewer, summary)}
        >
          Attempt {summary.attempt}, call {summary.seq}
        </button>
        <time class="faint">{clockTime(summary.startedAtMs)}</time>
        <OutcomeBadge outcome={summary.outcome} />
      </div>
      {sameArguments === true && <p class="same">Same arguments.</p>}
      {differ && !comparable && (
        <p class="note">The arguments differ; the log does not hold both.</p>
      )}
      {differ && comparable && (
        <details open={open}>
          <summary>
            {sameArguments === false ? 'The arguments differ' : 'Compare the arguments'}
          </summary>
          <ValueBoundary what="The difference">
            {inputJson === call.inputJson ? (
              <p class="note">They differ in a part that the log hid or cut.</p>
            ) : (
              <Difference before={inputJson} after={call.inputJson} />
            )}
          </ValueBoundary>
        </details>
      )}
      {withOutput && outputJson !== null && (
        <details>
          <summary>Its output</summary>
          <JsonValue json={outputJson} what="The output" />
        </details>
      )}
    </div>
  )
}
