/** A message has one line of a file and its matches. Longer messages are not kept in memory. */
const defaultMaxMessageBytes = 16 * 1024 * 1024

/** Bytes of one file's lines to buffer until ripgrep reports whether the file is binary. */
const maxBufferedBytes = 65_536

export interface PermittedMatchesOptions {
  /** Takes paths relative to the root. */
  readonly isDenied: (path: string) => boolean
  /** Whether context lines were requested; gaps between them are then marked. */
  readonly hasContext: boolean
  readonly maxMessageBytes?: number
}

/** A line of the result, and what ripgrep read to print it. */
export interface FoundLine {
  /** As ripgrep prints it. */
  readonly path: Buffer
  /** `path:line:text`, or a note about the file. */
  readonly printed: Buffer
  readonly kind: 'match' | 'context' | 'note'
  /** The line of the file, or the byte that makes it binary. Undefined for other notes. */
  readonly source?:
    | { readonly line: number; readonly text: Buffer }
    | { readonly nulOffset: number }
    | undefined
}

/**
 * Converts the output of `rg --json` to `path:line:text` and drops denied files. ripgrep's own globs follow other rules
 * than the policy's, so they cannot replace this filter.
 *
 * *Guarantees*: no text of a denied file passes, whatever files are called. In JSON a name cannot end a message or imitate
 * another one, as names with newlines can in plain output. Anything that is not a message is dropped.
 */
export class PermittedMatches {
  readonly #options: Required<PermittedMatchesOptions>
  #parts: Buffer[] = []
  #partBytes = 0
  /** Skipping the rest of a message that is too long. */
  #isSkipping = false
  /** The file being searched, as printed; undefined when denied. */
  #path: Buffer | undefined
  #lastLine = beforeAnyLine
  /** Buffered lines of this file; undefined once there were too many. */
  #buffered: FoundLine[] | undefined = []
  #bufferedBytes = 0
  #hasLines = false
  /** Files that ripgrep searched; undefined before its end. */
  searchedFiles: number | undefined

  constructor(options: PermittedMatchesOptions) {
    this.#options = { maxMessageBytes: defaultMaxMessageBytes, ...options }
  }

  /** Returns the lines that `bytes` complete. */
  push(bytes: Uint8Array): readonly FoundLine[] {
    const kept: FoundLine[] = []
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      this.#complete(rest.subarray(0, end), kept)
      rest = rest.subarray(end + 1)
    }
    this.#add(rest, kept)
    return kept
  }

  #add(bytes: Buffer, kept: FoundLine[]): void {
    if (this.#isSkipping || bytes.length === 0) return
    this.#parts.push(Buffer.from(bytes))
    this.#partBytes += bytes.length
    if (this.#partBytes <= this.#options.maxMessageBytes) return
    this.#isSkipping = true
    this.#parts = []
    this.#keep(kept, {
      parts: [note('a line is too long to be searched under the rules of this sandbox')],
      kind: 'note',
    })
  }

  /** A message ends with these bytes. */
  #complete(bytes: Buffer, kept: FoundLine[]): void {
    // Most messages came in one piece and are not copied.
    const isWhole = this.#partBytes === 0 && bytes.length <= this.#options.maxMessageBytes
    if (!isWhole) this.#add(bytes, kept)
    const text = (isWhole ? bytes : Buffer.concat(this.#parts)).toString('utf8')
    const wasSkipped = this.#isSkipping
    this.#parts = []
    this.#partBytes = 0
    this.#isSkipping = false
    const message = wasSkipped ? undefined : parsed(text)
    if (message?.type === 'begin') this.#begin(message.data)
    else if (message?.type === 'end') this.#end(message.data, kept)
    else if (message?.type === 'summary') this.searchedFiles = searchesOf(message.data)
    else if (message?.type === 'match' || message?.type === 'context') this.#line(message, kept)
  }

  #begin({ path }: MessageData): void {
    const bytes = bytesOf(path)
    const isDenied = bytes === undefined || this.#options.isDenied(fromRoot(bytes))
    this.#path = isDenied ? undefined : bytes
    this.#lastLine = beforeAnyLine
    this.#buffered = []
    this.#bufferedBytes = 0
  }

  #line({ type, data }: Message, kept: FoundLine[]): void {
    const text = bytesOf(data.lines)
    const line = data.line_number
    if (text === undefined || typeof line !== 'number') return
    const separator = type === 'match' ? ':' : '-'
    const isGap = this.#options.hasContext && line !== this.#lastLine + 1
    const kind = type === 'match' ? 'match' : 'context'
    // A match of several lines comes as one text.
    for (const [index, each] of linesOf(text).entries()) {
      const parts = [Buffer.from(`${separator}${line + index}${separator}`), each]
      if (each.at(-1) !== newline) parts.push(newlineBytes)
      const source = { line: line + index, text: each }
      this.#keep(kept, { parts, isGap: isGap && index === 0, source, kind })
      this.#lastLine = line + index
    }
  }

  #end({ binary_offset: offset }: MessageData, kept: FoundLine[]): void {
    if (typeof offset === 'number') {
      // Drop the lines of a binary file, unless the buffer was already flushed.
      if (this.#buffered !== undefined) this.#buffered = []
      const parts = [note(`binary file matches (found "\\0" byte around offset ${offset})`)]
      this.#keep(kept, { parts, source: { nulOffset: offset }, kind: 'note' })
    }
    kept.push(...(this.#buffered ?? []))
    this.#path = undefined
  }

  #keep(
    kept: FoundLine[],
    {
      parts,
      isGap = false,
      source,
      kind,
    }: Pick<FoundLine, 'source' | 'kind'> & {
      readonly parts: readonly Buffer[]
      readonly isGap?: boolean
    },
  ): void {
    if (this.#path === undefined) return
    const printed = Buffer.concat([...(isGap && this.#hasLines ? [gap] : []), this.#path, ...parts])
    const line: FoundLine = { path: this.#path, printed, source, kind }
    this.#hasLines = true
    this.#bufferedBytes += printed.length
    if (this.#buffered !== undefined && this.#bufferedBytes <= maxBufferedBytes) {
      this.#buffered.push(line)
      return
    }
    kept.push(...(this.#buffered ?? []), line)
    this.#buffered = undefined
  }
}

interface Content {
  readonly text?: unknown
  /** Base64 of text that is not UTF-8. */
  readonly bytes?: unknown
}

interface MessageData {
  readonly path?: Content
  readonly lines?: Content
  readonly line_number?: unknown
  readonly binary_offset?: unknown
  readonly stats?: unknown
}

interface Message {
  readonly type: unknown
  readonly data: MessageData
}

/** No line follows this number. */
const beforeAnyLine = -1
const newline = 10
const newlineBytes = Buffer.from('\n')
const gap = Buffer.from('--\n')

function note(text: string): Buffer {
  return Buffer.from(`: ${text}\n`)
}

function parsed(text: string): Message | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const isMessage =
    typeof value === 'object' &&
    value !== null &&
    'data' in value &&
    typeof value.data === 'object' &&
    value.data !== null
  // Each field is checked where it is used.
  return isMessage ? (value as Message) : undefined
}

function bytesOf(content: Content | undefined): Buffer | undefined {
  if (typeof content?.text === 'string') return Buffer.from(content.text)
  return typeof content?.bytes === 'string' ? Buffer.from(content.bytes, 'base64') : undefined
}

/** Each with its newline; the last one may lack it. */
function linesOf(text: Buffer): readonly Buffer[] {
  const first = text.indexOf(newline)
  if (first === -1 || first === text.length - 1) return [text]
  const lines: Buffer[] = []
  for (let start = 0; start < text.length;) {
    const end = text.indexOf(newline, start)
    lines.push(text.subarray(start, end === -1 ? text.length : end + 1))
    start += lines.at(-1)?.length ?? text.length
  }
  return lines
}

function searchesOf({ stats }: MessageData): number | undefined {
  if (typeof stats !== 'object' || stats === null || !('searches' in stats)) return undefined
  return typeof stats.searches === 'number' ? stats.searches : undefined
}

/** The path of a printed file, relative to the root. */
export function fromRoot(path: Buffer): string {
  return path.toString('utf8').replace(/^\.\//u, '')
}
