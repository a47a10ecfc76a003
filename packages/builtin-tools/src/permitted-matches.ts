/** A message is one line of a file and where in it the pattern matched; one that is longer is not kept in memory. */
const defaultMaxMessageBytes = 16 * 1024 * 1024

/** Lines of one file that are held back until its end may say that it is no text. */
const maxBufferedBytes = 65_536

export interface PermittedMatchesOptions {
  /** Asked with paths from the root. */
  readonly isDenied: (path: string) => boolean
  /** Whether lines around matches were asked for: gaps between them are then marked. */
  readonly hasContext: boolean
  readonly maxMessageBytes?: number
}

/**
 * Takes what `rg --json` prints, drops the files that the policy denies, and gives the others the form `path:line:text`.
 * ripgrep's globs are another language than those of the policy, so ripgrep cannot decide.
 *
 * Guarantees that no text of a denied file comes through, whatever files are called: in JSON no name can end a message
 * or look like another one, as names with newlines do in ripgrep's plain output. What is no message is dropped.
 */
export class PermittedMatches {
  readonly #options: Required<PermittedMatchesOptions>
  #parts: Buffer[] = []
  #partBytes = 0
  /** The rest of a message that is too long is on its way. */
  #isSkipping = false
  /** The file that is being searched, as it is printed; undefined when it is denied. */
  #path: Buffer | undefined
  #lastLine = beforeAnyLine
  /** Lines of this file; undefined when there were too many to hold back. */
  #buffered: Buffer[] | undefined = []
  #bufferedBytes = 0
  #hasLines = false

  constructor(options: PermittedMatchesOptions) {
    this.#options = { maxMessageBytes: defaultMaxMessageBytes, ...options }
  }

  push(bytes: Uint8Array): Buffer {
    const kept: Buffer[] = []
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      this.#add(rest.subarray(0, end), kept)
      this.#take(kept)
      rest = rest.subarray(end + 1)
    }
    this.#add(rest, kept)
    return Buffer.concat(kept)
  }

  #add(bytes: Buffer, kept: Buffer[]): void {
    if (this.#isSkipping || bytes.length === 0) return
    this.#parts.push(Buffer.from(bytes))
    this.#partBytes += bytes.length
    if (this.#partBytes <= this.#options.maxMessageBytes) return
    this.#isSkipping = true
    this.#parts = []
    this.#keep([note('a line is too long to be searched under the rules of this sandbox')], kept)
  }

  /** A message is complete. */
  #take(kept: Buffer[]): void {
    const text = Buffer.concat(this.#parts).toString('utf8')
    const wasSkipped = this.#isSkipping
    this.#parts = []
    this.#partBytes = 0
    this.#isSkipping = false
    const message = wasSkipped ? undefined : parsed(text)
    if (message?.type === 'begin') this.#begin(message.data)
    else if (message?.type === 'end') this.#end(message.data, kept)
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

  #line({ type, data }: Message, kept: Buffer[]): void {
    const text = bytesOf(data.lines)
    const line = data.line_number
    if (text === undefined || typeof line !== 'number') return
    const separator = type === 'match' ? ':' : '-'
    const isGap = this.#options.hasContext && line !== this.#lastLine + 1
    this.#lastLine = line
    const parts = [Buffer.from(`${separator}${line}${separator}`), text]
    if (text.at(-1) !== newline) parts.push(newlineBytes)
    this.#keep(parts, kept, isGap)
  }

  #end({ binary_offset: offset }: MessageData, kept: Buffer[]): void {
    if (typeof offset === 'number') {
      // What was found is no text to show. What is no longer held back was shown already.
      if (this.#buffered !== undefined) this.#buffered = []
      this.#keep([note(`binary file matches (found "\\0" byte around offset ${offset})`)], kept)
    }
    kept.push(...(this.#buffered ?? []))
    this.#path = undefined
  }

  #keep(parts: readonly Buffer[], kept: Buffer[], isGap = false): void {
    if (this.#path === undefined) return
    const line = Buffer.concat([...(isGap && this.#hasLines ? [gap] : []), this.#path, ...parts])
    this.#hasLines = true
    this.#bufferedBytes += line.length
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
  /** Base64, of what is not UTF-8. */
  readonly bytes?: unknown
}

interface MessageData {
  readonly path?: Content
  readonly lines?: Content
  readonly line_number?: unknown
  readonly binary_offset?: unknown
}

interface Message {
  readonly type: unknown
  readonly data: MessageData
}

/** A first line does not follow it. */
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
  // Each field is looked at where it is used.
  return isMessage ? (value as Message) : undefined
}

function bytesOf(content: Content | undefined): Buffer | undefined {
  if (typeof content?.text === 'string') return Buffer.from(content.text)
  return typeof content?.bytes === 'string' ? Buffer.from(content.bytes, 'base64') : undefined
}

function fromRoot(path: Buffer): string {
  return path.toString('utf8').replace(/^\.\//u, '')
}
