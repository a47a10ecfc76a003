import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Text } from '../text/text.tsx'
import { grouped } from '../text/format.ts'

const shownCharacters = 4000
const shownLines = 80

/** A text as a text: its lines as lines. A long one begins cut. */
export function TextBlock({ text }: { text: string }): VNode {
  const [whole, setWhole] = useState(false)
  const cut = whole ? text : beginningOf(text)
  const isCut = cut.length < text.length
  return (
    <div class="text-part">
      <pre class="text-block">
        <Text>{cut}</Text>
      </pre>
      {isCut && (
        <button type="button" class="button small" onClick={() => setWhole(true)}>
          Show all {grouped(text.length)} characters
        </button>
      )}
    </div>
  )
}

function beginningOf(text: string): string {
  let end = 0
  for (let line = 0; line < shownLines && end < shownCharacters; line += 1) {
    const next = text.indexOf('\n', end)
    if (next === -1) return text.slice(0, Math.max(shownCharacters, end))
    end = next + 1
  }
  return text.slice(0, Math.min(end, shownCharacters))
}
