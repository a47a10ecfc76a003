import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Arena } from './arena.ts'

/** How one of the two servers is started and called. */
export interface ServerKind {
  readonly kind: string
  argumentsFor(arena: Arena): readonly string[]
  /** The tool and its arguments for a path beneath the root. */
  read(path: string): readonly [string, object]
  write(path: string, content: string): readonly [string, object]
}

/** A connected server: what a call returned as text. */
export interface Side {
  read(path: string): Promise<string>
  write(path: string, content: string): Promise<string>
  close(): Promise<void>
}

const built = join(import.meta.dirname, '../../dist/program.js')
const source = ['--conditions=@smithers/source', join(import.meta.dirname, '../../src/program.ts')]

/** This package's program, with its log in a SQLite file. */
export const ours: ServerKind = {
  kind: existsSync(built) ? 'built' : 'from source',
  argumentsFor: ({ root, logPath }) => [
    ...(existsSync(built) ? [built] : source),
    '--root',
    root,
    '--log',
    logPath,
  ],
  read: (path) => ['read', { path }],
  write: (path, content) => ['write', { path, content }],
}

const manifest = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-filesystem/package.json',
)

/** The protocol's own server of files. */
export const theirs: ServerKind = {
  kind: 'published',
  argumentsFor: ({ root }) => [join(dirname(manifest), 'dist/index.js'), root],
  read: (path) => ['read_text_file', { path }],
  write: (path, content) => ['write_file', { path, content }],
}

/** Starts a server and connects the same client to it. */
export async function connect(kind: ServerKind, arena: Arena): Promise<Side> {
  const client = new Client({ name: 'bench', version: '1' })
  const args = [...kind.argumentsFor(arena)]
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    cwd: arena.root,
    stderr: 'ignore',
  })
  await client.connect(transport)
  const call = async ([name, given]: readonly [string, object]): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: { ...given } })
    return JSON.stringify(content)
  }
  return {
    read: (path) => call(kind.read(join(arena.root, path))),
    write: (path, content) => call(kind.write(join(arena.root, path), content)),
    close: () => client.close(),
  }
}

/** Both servers in one arena. */
export async function connectBoth(
  arena: Arena,
): Promise<{ readonly mine: Side; readonly other: Side; close(): Promise<void> }> {
  const mine = await connect(ours, arena)
  const other = await connect(theirs, arena)
  return {
    mine,
    other,
    close: async (): Promise<void> => {
      await mine.close()
      await other.close()
    },
  }
}
