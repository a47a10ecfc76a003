import { SmithersError } from '@smithers/tool-core'

/**
 * Tools that can be closed: `await using tools = createBuiltinTools()`. A type alias, so that they are assignable to the AI
 * SDK's `ToolSet`.
 */
export type ClosableTools = {
  /** As `closeTools`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What a bundle's tools have open, as the part of this package knows it that opens it. */
type CloseBundle = (bundle: object) => Promise<void>

const closed = new WeakSet<object>()
const closers = new WeakMap<object, () => Promise<void>>()

/** Makes the tools of a bundle closable. What is opened for the bundle is closed with `close`. */
export function closable<Tools extends object>(
  tools: Tools,
  bundle: object,
  close: CloseBundle,
): Tools & ClosableTools {
  let closing: Promise<void> | undefined
  const closeOnce = (): Promise<void> => {
    closed.add(bundle)
    return (closing ??= close(bundle))
  }
  closers.set(tools, closeOnce)
  // Not enumerable, so that nothing takes it for a tool; a copy of the tools has no such method.
  return Object.defineProperty(tools, Symbol.asyncDispose, { value: closeOnce }) as Tools &
    ClosableTools
}

/**
 * Closes a bundle, as it was returned by `createBuiltinTools`, `createCommandTools` or `createLiveBash`: its commands are
 * killed, those in the background too, file operations that have begun are completed, and once all of them have ended its
 * roots are released and the home of its commands is removed. Later calls of its tools are refused with `TOOL_CLOSED`, which
 * ends their run. Closing again waits for the same end.
 *
 * The tools that the package exports are shared by the whole process and cannot be closed; they release a root a minute
 * after the end of the last run that has used it.
 *
 * @throws SmithersError `INVALID_INPUT` for other tools, copies included
 *
 * @example
 * const tools = createBuiltinTools()
 * try {
 *   await answer(request, tools)
 * } finally {
 *   await closeTools(tools)
 * }
 */
export async function closeTools(tools: object): Promise<void> {
  const close = closers.get(tools)
  if (close === undefined) {
    throw new SmithersError(
      'INVALID_INPUT',
      'These tools cannot be closed. Pass the very object that createBuiltinTools, createCommandTools or createLiveBash returned, not a copy of it.',
      { effect: 'none' },
    )
  }
  await close()
}

/** @throws SmithersError `TOOL_CLOSED`, which ends the run, when the bundle of a tool was closed */
export function refuseClosed(bundle: object): void {
  if (!closed.has(bundle)) return
  throw new SmithersError(
    'TOOL_CLOSED',
    'The bundle of this tool was closed, so nothing was done. The program that started this run must create the tools again and keep them until the run has ended.',
    { effect: 'none', fatal: true },
  )
}
