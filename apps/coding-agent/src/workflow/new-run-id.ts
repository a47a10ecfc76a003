/** A readable id that sorts by time and is unique enough for one log. */
export function newRunId(now: Date): string {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `run-${time}-${crypto.randomUUID().slice(0, 4)}`
}
