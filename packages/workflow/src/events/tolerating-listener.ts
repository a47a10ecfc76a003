/** Wraps a listener so that its errors have no effect: the event has already happened. */
export function toleratingListener<Event>(
  listener: ((event: Event) => unknown) | undefined,
): (event: Event) => void {
  if (listener === undefined) return () => {}
  return (event) => {
    try {
      const result = listener(event)
      if (result instanceof Promise) result.catch(() => {})
    } catch {
      // A failing progress display must not fail the work.
    }
  }
}
