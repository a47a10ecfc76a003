import { createReadStream, existsSync, statSync } from 'node:fs'

/** In the schema of every log, in either encoding of SQLite. */
const marks = (['utf8', 'utf16le'] as const).map((encoding) =>
  Buffer.from('_smithers_tool_calls', encoding),
)
const longestMark = Math.max(...marks.map(({ length }) => length))
const header = Buffer.from('SQLite format 3\0')

/**
 * What a file is that SQLite could open and that is no log; undefined for a log, and for what SQLite refuses by itself.
 * Only reads: opened as a log, an empty file and the database of another program would get its tables. Of a log, it reads
 * the first pages.
 */
export async function foreignDatabase(path: string): Promise<string | undefined> {
  const found = statSync(path)
  if (!found.isFile()) return undefined
  // Of a file that is no database, only the beginning is read, however large it is.
  if (found.size > 0 && !(await beginsAsDatabase(path))) return undefined
  // What a process has just written may be beside the file.
  for (const file of [path, `${path}-wal`]) {
    if (existsSync(file) && (await contains(file))) return undefined
  }
  return found.size === 0 ? 'an empty file' : 'the database of something else'
}

async function contains(file: string): Promise<boolean> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const read = Buffer.concat([rest, chunk])
    if (marks.some((mark) => read.includes(mark))) return true
    rest = read.subarray(-longestMark)
  }
  return false
}

async function beginsAsDatabase(file: string): Promise<boolean> {
  const beginning = createReadStream(file, { end: header.length - 1 }) as AsyncIterable<Buffer>
  for await (const chunk of beginning) return chunk.equals(header)
  return false
}
