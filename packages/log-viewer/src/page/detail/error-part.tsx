import type { VNode } from 'preact'
import type { CallError } from '../../api/call-detail.ts'
import { valueOf } from '../model/viewer-state.ts'
import { Section } from '../parts/section.tsx'
import { useSelected } from '../parts/use-viewer.ts'
import { Text } from '../text/text.tsx'
import { visibleLine } from '../text/visible-text.ts'
import { JsonValue } from '../value/json-value.tsx'

/** Why a call failed: its code with what that means, its message, and the whole record. */
export function ErrorPart({ error }: { error: CallError }): VNode {
  return (
    <Section title="Error">
      <div class="error-box">
        <p class="error-code">
          <code>{visibleLine(error.code ?? error.name)}</code>
          {error.docsUrl !== null && isOurs(error.docsUrl) && (
            <a href={error.docsUrl} target="_blank" rel="noopener noreferrer">
              More about this code
            </a>
          )}
        </p>
        <p class="error-message">
          <Text>{error.message}</Text>
        </p>
        {error.code !== null && <CodeText code={error.code} />}
      </div>
      <details>
        <summary>Whole record</summary>
        <JsonValue json={error.json} what="The record of the error" />
      </details>
    </Section>
  )
}

/** Cause and cure of a code, where the program that started the viewer knows it. */
function CodeText({ code }: { code: string }): VNode | null {
  const texts = useSelected((state) => valueOf(state.session)?.errorTexts)
  // The code comes from the log, so it may be the name of what every object has.
  const text = texts !== undefined && Object.hasOwn(texts, code) ? texts[code] : undefined
  if (text === undefined) return null
  return (
    <details class="code-text">
      <summary>What this code means</summary>
      <p>{text.meaning}</p>
      <p>
        <b>What to do:</b> {text.advice}
      </p>
    </details>
  )
}

/** The address comes from the server and never from the log; a scheme that runs code is refused all the same. */
function isOurs(address: string): boolean {
  return address.startsWith('https://')
}
