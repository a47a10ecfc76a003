import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { bytes } from '../text/format.ts'
import { Text } from '../text/text.tsx'
import { TextBlock } from './text-block.tsx'
import { ValueBoundary } from './value-boundary.tsx'
import { ValueTree } from './value-tree.tsx'

/** A value of the log: as a tree with its texts as texts, or as the log holds it. */
export function JsonValue({ json, what }: { json: string; what: string }): VNode {
  const [raw, setRaw] = useState(false)
  const parsed = parse(json)
  const isTree = parsed.ok && typeof parsed.value === 'object' && parsed.value !== null
  const cut = parsed.ok ? cutOf(parsed.value) : undefined
  return (
    <div class="value">
      <ValueBoundary what={what} raw={json}>
        {raw || !parsed.ok ? (
          <TextBlock text={json} />
        ) : cut !== undefined ? (
          <CutValue cut={cut} />
        ) : (
          <ValueTree value={parsed.value} depth={0} showRaw={() => setRaw(true)} />
        )}
      </ValueBoundary>
      {isTree && (
        <button type="button" class="button small quiet" onClick={() => setRaw(!raw)}>
          {raw ? 'Show as a tree' : 'Show raw'}
        </button>
      )}
      {!parsed.ok && <p class="note">This is not valid JSON. It is shown as the log holds it.</p>}
    </div>
  )
}

type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

function parse(json: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(json) }
  } catch {
    return { ok: false }
  }
}

interface Cut {
  readonly bytes: number
  readonly head: string
}

/** The record of a value that was too long for the log, if it has exactly the form of one. */
function cutOf(value: unknown): Cut | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { $truncated, bytes: length, head } = value as Record<string, unknown>
  if ($truncated !== true || typeof length !== 'number' || typeof head !== 'string')
    return undefined
  return { bytes: length, head }
}

function CutValue({ cut }: { cut: Cut }): VNode {
  return (
    <>
      <p class="note">Cut: the log keeps the beginning of {bytes(cut.bytes)}.</p>
      <pre class="text-block">
        <Text>{cut.head}</Text>
      </pre>
    </>
  )
}
