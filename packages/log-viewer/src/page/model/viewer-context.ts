import { SourceError, type ViewerSource } from '../source/viewer-source.ts'
import type { Store } from './store.ts'
import type { Loadable, ViewerState } from './viewer-state.ts'

/** What every action of the page works with. */
export interface ViewerContext {
  readonly source: ViewerSource
  readonly store: Store<ViewerState>
  /** The positions of the timeline that are on the screen. */
  readonly visible: { from: number; to: number }
  /** The version of the log that the page shows. */
  readonly seen: { version: string }
}

/** Reads a value; a failure becomes one to show. */
export async function load<Value>(read: () => Promise<Value>): Promise<Loadable<Value>> {
  try {
    return { state: 'ready', value: await read() }
  } catch (error) {
    return failure(error)
  }
}

/** A failure in words. */
export function failure(error: unknown): {
  readonly state: 'failed'
  readonly code: string
  readonly message: string
} {
  if (error instanceof SourceError) {
    return { state: 'failed', code: error.code, message: error.message }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { state: 'failed', code: 'UNREADABLE', message: `The answer cannot be read: ${message}` }
}

/** Notes what the clock of the server says. */
export function showClock({ store }: ViewerContext, nowMs: number): void {
  const offsetMs = nowMs - Date.now()
  // An answer takes time, too: what it took is no difference of the clocks, and would draw everything anew.
  if (Math.abs(offsetMs - store.get().clockOffsetMs) > answerMs) {
    store.set({ clockOffsetMs: offsetMs })
  }
}

const answerMs = 500

let notices = 0

/** Says something for a moment, also to a screen reader. */
export function say({ store }: ViewerContext, text: string): void {
  notices += 1
  store.set({ notice: { text, id: notices } })
}
