import { SandboxError } from '../errors/sandbox-error.ts'
import { notAFile } from '../files/file-error.ts'
import { fileLimits } from '../files/file-limits.ts'
import type { FileKind } from '../files/guard/directory-handle.ts'
import type { SandboxFiles } from '../files/sandbox-files.ts'
import { readInPool } from '../files/io/pool-calls.ts'
import type { SessionFiles, SessionKind } from './session-types.ts'

/** The file methods of an AI SDK sandbox session, on confined files. */
export function createSessionFiles(files: SandboxFiles): SessionFiles {
  return {
    readFile: ({ path, abortSignal }) =>
      orNull(async () => {
        abortSignal?.throwIfAborted()
        const file = await files.open(path)
        return streamOf(file, abortSignal)
      }),
    readBinaryFile: ({ path, abortSignal }) =>
      orNull(async () => {
        abortSignal?.throwIfAborted()
        return files.read(path)
      }),
    readTextFile: ({ path, encoding, startLine, endLine, abortSignal }) =>
      orNull(async () => {
        abortSignal?.throwIfAborted()
        if (!isUtf8Name(encoding)) {
          const text = new TextDecoder(encoding, { fatal: true }).decode(await files.read(path))
          return pickLines(text, startLine, endLine)
        }
        if (startLine === undefined && endLine === undefined) return files.readText(path)
        return readRange(files, path, { startLine, endLine, abortSignal })
      }),
    async writeFile({ path, content, abortSignal }) {
      abortSignal?.throwIfAborted()
      await files.write(path, abortable(content, abortSignal))
    },
    async writeBinaryFile({ path, content, abortSignal }) {
      abortSignal?.throwIfAborted()
      await files.write(path, content)
    },
    async writeTextFile({ path, content, encoding, abortSignal }) {
      abortSignal?.throwIfAborted()
      await files.write(path, encode(content, encoding))
    },
    stat: ({ path, abortSignal }) =>
      orNull(async () => {
        abortSignal?.throwIfAborted()
        const { kind, sizeBytes } = await files.stat(path)
        // Links are followed, so a remaining one is dangling.
        return kind === 'symlink' ? null : { type: sessionKind(kind), size: sizeBytes }
      }),
    listDirectory: ({ path, abortSignal }) =>
      orNull(async () => {
        abortSignal?.throwIfAborted()
        const entries = await files.list(path)
        return entries.map(({ name, kind }) => ({
          name,
          type: kind === 'symlink' ? ('symlink' as const) : sessionKind(kind),
        }))
      }),
    async deleteFile({ path, abortSignal }) {
      abortSignal?.throwIfAborted()
      const found = await orNull(() => files.stat(path, { followLink: false }))
      if (found?.kind === 'directory') throw notAFile(path, 'directory')
      return found === null ? false : files.remove(path)
    },
  }
}

async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (SandboxError.isInstance(error) && error.code === 'TOOL_FILE_NOT_FOUND') return null
    throw error
  }
}

function sessionKind(kind: FileKind): SessionKind {
  return kind === 'file' || kind === 'directory' ? kind : 'other'
}

async function readRange(
  files: SandboxFiles,
  path: string,
  range: {
    readonly startLine: number | undefined
    readonly endLine: number | undefined
    readonly abortSignal: AbortSignal | undefined
  },
): Promise<string> {
  const { text, totalLines } = await files.readLines(path, range)
  const isWholeEnd =
    range.endLine === undefined || (totalLines !== undefined && range.endLine > totalLines)
  // The AI SDK joins the lines of a range, so the last one has no line ending.
  return isWholeEnd ? text : text.replace(/\r?\n$/u, '')
}

function pickLines(
  text: string,
  startLine: number | undefined,
  endLine: number | undefined,
): string {
  if (startLine === undefined && endLine === undefined) return text
  const lines = text.split('\n').slice(Math.max(1, startLine ?? 1) - 1, endLine)
  return lines.join('\n').replace(endLine === undefined ? '' : /\r$/u, '')
}

function isUtf8Name(encoding: string | undefined): boolean {
  return encoding === undefined || /^utf-?8$/iu.test(encoding)
}

const singleByte = /^(?:latin1|binary|ascii)$/iu

function encode(content: string, encoding: string | undefined): string | Uint8Array {
  if (isUtf8Name(encoding)) return content
  if (encoding !== undefined && Buffer.isEncoding(encoding)) {
    const bytes = Buffer.from(content, encoding)
    // A text encoding must round-trip. An encoding of bytes (base64) has several spellings for the same bytes.
    if (!singleByte.test(encoding) || bytes.toString(encoding) === content) return bytes
    throw new SandboxError(
      'INVALID_INPUT',
      `The text contains characters that ${JSON.stringify(encoding)} cannot encode. Write it as "utf-8".`,
      { effect: 'none' },
    )
  }
  throw new SandboxError(
    'INVALID_INPUT',
    `Text cannot be written as ${JSON.stringify(encoding)}. Use "utf-8", "utf16le" or "latin1".`,
    { effect: 'none' },
  )
}

function streamOf(
  file: { readonly fd: number; close(): void },
  abortSignal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        abortSignal?.throwIfAborted()
        const buffer = Buffer.allocUnsafeSlow(fileLimits.lineChunkBytes)
        const whole = { offset: 0, length: buffer.length, position: null }
        const bytesRead = await readInPool(file.fd, buffer, whole)
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead))
        file.close()
        controller.close()
      } catch (error) {
        file.close()
        controller.error(error)
      }
    },
    cancel: () => file.close(),
  })
}

async function* abortable(
  chunks: AsyncIterable<Uint8Array>,
  abortSignal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of chunks) {
    abortSignal?.throwIfAborted()
    yield chunk
  }
}
