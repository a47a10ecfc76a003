/** A duration for a narrow column: `3 ms`, `1.2 s`, `4 m 05 s`, `2 h 10 m`, `3 d`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return '–'
  if (ms < 1) return '<1 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(2)} s`
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${twoDigits(seconds % 60)} s`
  if (seconds < 172_800)
    return `${Math.floor(seconds / 3600)} h ${twoDigits((seconds % 3600) / 60)} m`
  return `${Math.floor(seconds / 86_400)} d`
}

/** How long ago a moment was. */
export function age(atMs: number, nowMs: number): string {
  const seconds = Math.max(0, (nowMs - atMs) / 1000)
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${Math.floor(seconds)} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

/** The moment in the reader's time zone, to the millisecond. */
export function moment(atMs: number): string {
  const date = new Date(atMs)
  if (Number.isNaN(date.getTime())) return String(atMs)
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
  return `${day} ${clockTime(atMs)}`
}

/** The time of the day, to the millisecond. */
export function clockTime(atMs: number): string {
  const date = new Date(atMs)
  const ms = String(date.getMilliseconds()).padStart(3, '0')
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}.${ms}`
}

/** A size: `512 B`, `1.4 kB`, `3.0 MB`. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} kB`
  return `${(count / 1_000_000).toFixed(1)} MB`
}

/** `1 call`, `3 calls`, `5 000 calls`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A number with its thousands apart. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ' ')
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, '0')
}
