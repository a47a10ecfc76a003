import { journalOf } from '../journal/attempt-journal.ts'
import { getToolContext } from './ambient-context.ts'

/**
 * Calls `listener` once when the attempt of the run ends whose tool is being called: the program settled it, its signal was
 * aborted, or it failed. A tool that leaves something running ends it there. Outside a run, the listener is never called.
 *
 * @returns a function that forgets the listener
 */
export function onRunEnd(listener: () => void): () => void {
  const context = getToolContext()
  if (context === undefined) return () => {}
  const journal = journalOf(context)
  const { signal } = journal
  const forget = (): void => {
    journal.settleListeners.delete(end)
    signal.removeEventListener('abort', end)
  }
  const end = (): void => {
    forget()
    listener()
  }
  journal.settleListeners.add(end)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted || journal.isOver) end()
  return forget
}
