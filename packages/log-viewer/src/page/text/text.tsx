import type { VNode } from 'preact'
import { visiblePieces } from './visible-text.ts'

/** Text of a log as text nodes, with invisible characters named and marked. */
export function Text({ children, line = false }: { children: string; line?: boolean }): VNode {
  const pieces = visiblePieces(children, line ? 'mark' : 'keep')
  return (
    <>
      {pieces.map((piece, index) =>
        piece.escape ? (
          <span key={index} class="escape">
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </>
  )
}
