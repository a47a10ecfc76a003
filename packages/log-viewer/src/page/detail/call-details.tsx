import type { VNode } from 'preact'
import type { CallDetail } from '../../api/call-detail.ts'
import { ApprovalCard } from '../approvals/approval-card.tsx'
import { copyText } from '../parts/clipboard.ts'
import { OutcomeBadge } from '../parts/icons.tsx'
import { Menu } from '../parts/menu.tsx'
import { useViewer } from '../parts/use-viewer.ts'
import { Text } from '../text/text.tsx'
import { visibleLine } from '../text/visible-text.ts'
import { JsonValue } from '../value/json-value.tsx'
import { ValueBoundary } from '../value/value-boundary.tsx'
import { CallFacts } from './call-facts.tsx'
import { ComparedCalls } from './compared-calls.tsx'
import { ErrorPart } from './error-part.tsx'
import { Section } from '../parts/section.tsx'
import { threeAnswers } from './three-answers.ts'

/** Everything that the log holds of one call. */
export function CallDetails({ call }: { call: CallDetail }): VNode {
  const { summary } = call
  return (
    <article
      class="call-details"
      aria-label={`Call ${summary.seq}`}
      data-call-token={summary.callToken}
    >
      <CallHead call={call} />
      <p class="outcome-text" data-outcome={summary.outcome}>
        <Text line>{call.outcomeText}</Text>
      </p>
      {call.contentsLeftOut !== true && <KnownParts call={call} />}
    </article>
  )
}

function KnownParts({ call }: { call: CallDetail }): VNode {
  const { error, approval } = call
  return (
    <>
      <Answers call={call} />
      {approval !== null && (
        <ValueBoundary what="The approval">
          <ApprovalCard approval={approval} />
        </ValueBoundary>
      )}
      {error !== null && <ErrorPart error={error} />}
      <Section title="Arguments" note={noteOf(call)}>
        {call.inputJson === null ? <Absent /> : <JsonValue json={call.inputJson} what="This" />}
      </Section>
      {(call.outputJson !== null || error === null) && (
        <Section
          title="Output"
          note={call.outputJson !== null && !call.outputExact ? 'not the whole output' : null}
        >
          {call.outputJson === null ? <Absent /> : <JsonValue json={call.outputJson} what="This" />}
        </Section>
      )}
      {call.networkJson !== null && (
        <Section title="Network">
          <JsonValue json={call.networkJson} what="This" />
        </Section>
      )}
      <ComparedCalls call={call} />
      <Section title="Facts">
        <CallFacts call={call} />
      </Section>
    </>
  )
}

function CallHead({ call }: { call: CallDetail }): VNode {
  const viewer = useViewer()
  const { summary, copyAs } = call
  const copy = (text: string, what: string) => () => {
    void copyText(viewer, text, what)
  }
  return (
    <header class="call-head">
      <div class="call-title">
        <h2 class="mono">{visibleLine(summary.toolName)}</h2>
        <OutcomeBadge outcome={summary.outcome} />
      </div>
      {call.contentsLeftOut !== true && (
        <Menu
          label="Copy as"
          icon="copy"
          opener="copy"
          items={[
            {
              label: 'Command',
              hint: 'smithers show …',
              choose: copy(copyAs.command, 'the command'),
            },
            {
              label: 'JSON',
              hint: 'the row of the log',
              choose: copy(copyAs.json, 'the row as JSON'),
            },
            {
              label: 'Reproduction',
              hint: 'a script that calls it again, with a new key',
              choose: copy(copyAs.reproduction, 'the script'),
            },
          ]}
        />
      )}
      <p class="call-where faint">
        <span>{visibleLine(summary.nodeId)}</span>
        {summary.iteration > 0 && <span>iteration {summary.iteration + 1}</span>}
        <span>attempt {summary.attempt}</span>
        <span>call {summary.seq}</span>
      </p>
    </header>
  )
}

function Answers({ call }: { call: CallDetail }): VNode {
  return (
    <dl class="answers">
      {threeAnswers(call).map(({ question, answer, more, alarming }) => (
        <div key={question} data-alarming={alarming ? '' : undefined}>
          <dt>{question}</dt>
          <dd>
            <b>{answer}</b>
            <span>{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Absent(): VNode {
  return <p class="faint">Not recorded.</p>
}

function noteOf({ inputCut, inputHidden }: CallDetail): string | null {
  if (inputCut && inputHidden) return 'partly hidden, and cut'
  if (inputCut) return 'cut'
  return inputHidden ? 'partly hidden' : null
}
