/** Keeps whole lines up to a limit in bytes and removes a given prefix from each. */
export class LineCollector {
  readonly #maxBytes: number
  readonly #prefix: Buffer
  readonly #lines: Buffer[] = []
  #bytes = 0
  #unfinished: Buffer = Buffer.alloc(0)
  // The beginning of the first line, in case no line fits.
  #first: Buffer = Buffer.alloc(0)
  #full = false

  constructor(maxBytes: number, prefix: string) {
    this.#maxBytes = maxBytes
    this.#prefix = Buffer.from(prefix)
  }

  /** Returns false when the limit is exceeded; later input is ignored. */
  push(bytes: Uint8Array): boolean {
    if (this.#full) return false
    let rest = Buffer.concat([this.#unfinished, bytes])
    if (this.#lines.length === 0) this.#first = this.#withoutPrefix(rest)
    for (let end = rest.indexOf(10); end >= 0 && !this.#full; end = rest.indexOf(10)) {
      this.#add(rest.subarray(0, end + 1))
      rest = rest.subarray(end + 1)
    }
    this.#unfinished = rest
    // A single line longer than the limit.
    if (rest.length > this.#maxBytes + this.#prefix.length) this.#full = true
    return !this.#full
  }

  /** All lines, or the first lines and a note when they exceed the limit. */
  text(): string {
    if (!this.#full && this.#unfinished.length > 0) {
      this.#add(this.#unfinished)
      this.#unfinished = Buffer.alloc(0)
    }
    return this.#full ? this.#shortened() : toText(this.#lines)
  }

  /** The lines, shortened if necessary, followed by `note`. */
  textWithNote(note: string): string {
    const whole = this.text()
    const text = `${whole}${whole.endsWith('\n') ? '' : '\n'}${note}`
    return !this.#full && Buffer.byteLength(text) <= this.#maxBytes ? text : this.#shortened(note)
  }

  #add(line: Buffer): void {
    const kept = this.#withoutPrefix(line)
    if (this.#bytes + kept.length > this.#maxBytes) {
      this.#full = true
      return
    }
    this.#lines.push(kept)
    this.#bytes += kept.length
  }

  #withoutPrefix(line: Buffer): Buffer {
    const hasPrefix = line.subarray(0, this.#prefix.length).equals(this.#prefix)
    return hasPrefix ? line.subarray(this.#prefix.length) : line
  }

  #shortened(note?: string): string {
    const end = note === undefined ? '' : `\n${note}`
    const advice = `more follow. Narrow the pattern, the path or the glob.]${end}`
    const marker = (shown: number): string =>
      `[… cut at ${this.#maxBytes} bytes after ${shown} lines; ${advice}`
    const room = this.#maxBytes - Buffer.byteLength(marker(this.#lines.length))
    const lines = [...this.#lines]
    let bytes = this.#bytes
    while (bytes > room && lines.length > 0) bytes -= lines.pop()!.length
    if (lines.length > 0) return toText(lines) + marker(lines.length)
    // Not even one line fits: show its beginning.
    const inside = `[… cut at ${this.#maxBytes} bytes inside the first line; ${advice}`
    const first = toText([this.#lines[0] ?? this.#first])
    const space = this.#maxBytes - Buffer.byteLength(inside) - 1
    return space > 0
      ? `${cutEnd(first, space).trimEnd()}\n${inside}`
      : cutEnd(first, this.#maxBytes)
  }
}

function toText(lines: readonly Buffer[]): string {
  return Buffer.concat(lines).toString('utf8')
}

/** The longest prefix of whole characters within `maxBytes` of UTF-8. */
function cutEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = Math.max(maxBytes, 0)
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
