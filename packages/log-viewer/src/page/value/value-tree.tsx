import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { counted, grouped } from '../text/format.ts'
import { Text } from '../text/text.tsx'
import { visibleLine } from '../text/visible-text.ts'
import { TextBlock } from './text-block.tsx'
import { ValueBoundary } from './value-boundary.tsx'

const openDepth = 3
const deepest = 24
const shownEntries = 100

interface ValueTreeProps {
  readonly value: unknown
  /** How many values are around this one. */
  readonly depth: number
  readonly showRaw: () => void
}

/** A parsed JSON value of any shape and size. */
export function ValueTree({ value, depth, showRaw }: ValueTreeProps): VNode {
  if (typeof value === 'string') return <StringValue text={value} />
  if (typeof value !== 'object' || value === null) {
    return <span class={value === null ? 'value-null' : 'value-number'}>{String(value)}</span>
  }
  // A list of pairs, so that a property named __proto__ is a name like any other.
  const isList = Array.isArray(value)
  const entries: [string, unknown][] = isList
    ? value.map((item: unknown, index) => [String(index), item])
    : Object.entries(value)
  if (entries.length === 0) return <span class="value-null">{isList ? '[ ]' : '{ }'}</span>
  if (depth >= deepest) {
    return (
      <button type="button" class="button small quiet" onClick={showRaw}>
        Nested deeper than {deepest} levels: show raw
      </button>
    )
  }
  return <Entries {...{ entries, isList, depth, showRaw }} />
}

function StringValue({ text }: { text: string }): VNode {
  if (text.includes('\n') || text.length > 200) return <TextBlock text={text} />
  return (
    <span class="value-text">
      {text === '' ? <span class="value-null">empty text</span> : <Text>{text}</Text>}
    </span>
  )
}

interface EntriesProps {
  readonly entries: readonly [string, unknown][]
  readonly isList: boolean
  readonly depth: number
  readonly showRaw: () => void
}

function Entries({ entries, isList, depth, showRaw }: EntriesProps): VNode {
  const [shown, setShown] = useState(shownEntries)
  const left = entries.length - shown
  return (
    <>
      <ul class={isList ? 'tree list' : 'tree'}>
        {entries.slice(0, shown).map(([name, item]) => (
          <Entry key={name} {...{ name, item, depth, showRaw }} />
        ))}
      </ul>
      {left > 0 && (
        <button
          type="button"
          class="button small"
          onClick={() => setShown(shown + 10 * shownEntries)}
        >
          {grouped(left)} more
        </button>
      )}
    </>
  )
}

interface EntryProps {
  readonly name: string
  readonly item: unknown
  readonly depth: number
  readonly showRaw: () => void
}

function Entry({ name, item, depth, showRaw }: EntryProps): VNode {
  const size = sizeOf(item)
  const [open, setOpen] = useState(depth + 1 < openDepth)
  const label = name === '' ? '""' : visibleLine(name)
  return (
    <li>
      {size > 0 ? (
        <button
          type="button"
          class="tree-name fold"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {label}
          {!open && (
            <span class="faint"> {counted(size, Array.isArray(item) ? 'item' : 'field')}</span>
          )}
        </button>
      ) : (
        <span class="tree-name">{label}</span>
      )}
      {(size === 0 || open) && (
        <ValueBoundary what={`The value of "${label}"`}>
          <ValueTree value={item} depth={depth + 1} showRaw={showRaw} />
        </ValueBoundary>
      )}
    </li>
  )
}

/** How many entries a value has that can be folded. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Array.isArray(value) ? value.length : Object.keys(value).length
}
