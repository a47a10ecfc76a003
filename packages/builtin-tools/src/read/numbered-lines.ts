/**
 * The lines of a text behind their numbers, from `first` on, and a tab; as many of them as fit into `maxBytes`, at least
 * one.
 */
export function numberedLines(text: string, first: number, maxBytes: number = Infinity): string {
  let numbered = ''
  let bytes = 0
  let line = first
  for (let start = 0; start < text.length; line += 1) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline + 1
    const shown = `${line}\t${text.slice(start, end)}`
    bytes += Buffer.byteLength(shown)
    if (bytes > maxBytes && numbered !== '') break
    numbered += shown
    start = end
  }
  return numbered
}
