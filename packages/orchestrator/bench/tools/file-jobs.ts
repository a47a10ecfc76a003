import { promises as fs, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyPatch } from 'diff'
import { alternatingPatches } from '../../../builtin-tools/bench/alternating-patches.ts'
import type { Job, Work } from './rounds.ts'
import { nextCall, type RunTools } from './run-tools.ts'

const small = 1024
const large = 150 * 1024

/** Lines of code-like text. */
export function textOf(bytes: number): string {
  const lines: string[] = []
  for (let length = 0, index = 0; length < bytes; index += 1) {
    const line = `  const value${index} = compute(${index}, "text")\n`
    lines.push(line)
    length += line.length
  }
  return lines.join('').slice(0, bytes)
}

/** A read of one of a few files, as an agent reads different ones. */
export function readJobs(root: string, tools: RunTools): Job[] {
  return [
    ['1 KB', small, 0.6],
    ['150 KB', large, 0.9],
  ].map(([size, bytes, atMost]) => {
    const paths = filesOf(root, `read-${Number(bytes)}`, Number(bytes))
    return {
      name: `read ${size}`,
      calls: 10,
      ours: (call) => tools.usual.read.execute({ path: nth(paths, call) }, nextCall()),
      beside: [
        {
          name: 'readFile',
          work: (call: number) => fs.readFile(join(root, nth(paths, call)), 'utf8'),
          atMost: Number(atMost),
        },
      ],
    } satisfies Job
  })
}

const files = 10

function filesOf(root: string, name: string, bytes: number): string[] {
  return Array.from({ length: files }, (_, index) => {
    const path = `${name}-${index}.ts`
    writeFileSync(join(root, path), textOf(bytes))
    return path
  })
}

function nth(paths: readonly string[], call: number): string {
  return paths[call % paths.length] ?? ''
}

/** Writes of new files, beside a temporary file that is renamed; each with and without fsync. */
export function writeJobs(root: string, tools: RunTools): Job[] {
  return [
    ['1 KB', small],
    ['150 KB', large],
  ].flatMap(([size, bytes]) => {
    const content = textOf(Number(bytes))
    const plain =
      (kind: string, syncs: boolean): Work =>
      (call) =>
        writePlainly(join(root, `${kind}-${Number(bytes)}-${call}`), content, syncs)
    return [
      {
        name: `write ${size}, new file, relaxed`,
        calls: 3,
        ours: (call: number) =>
          tools.relaxed.write.execute(
            { path: `relaxed-${Number(bytes)}-${call}`, content },
            nextCall(),
          ),
        beside: [{ name: 'writeFile, rename', work: plain('plain', false), atMost: 0.9 }],
      },
      {
        name: `write ${size}, new file, default`,
        calls: 3,
        ours: (call: number) =>
          tools.usual.write.execute(
            { path: `synced-${Number(bytes)}-${call}`, content },
            nextCall(),
          ),
        beside: [{ name: 'with fsync', work: plain('plain-synced', true), atMost: 1 }],
      },
    ]
  })
}

async function writePlainly(path: string, content: string, syncs: boolean): Promise<void> {
  if (syncs) {
    const handle = await fs.open(`${path}.tmp`, 'w')
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
  } else {
    await fs.writeFile(`${path}.tmp`, content)
  }
  await fs.rename(`${path}.tmp`, path)
}

/** Removes what the write jobs have created, so that directories stay as small as real ones. */
export async function removeWritten(root: string): Promise<void> {
  for (const name of await fs.readdir(root)) {
    if (/^(?:relaxed|synced|plain|plain-synced)-\d/.test(name)) rmSync(join(root, name))
  }
}

/** Edits of 2 000 lines, beside read, `applyPatch` of `diff`, temporary file, rename; each with and without fsync. */
export function editJobs(root: string, tools: RunTools): Job[] {
  return [1, 50].flatMap((hunks) => {
    const name = `edit, ${hunks} hunk${hunks === 1 ? '' : 's'} in 2 000 lines`
    const ours = (kind: 'relaxed' | 'usual'): Work => {
      const path = `edit-${kind}-${hunks}`
      const patches = alternatingPatches(root, path, hunks)
      return (call) => tools[kind].edit.execute({ path, patch: nth(patches, call) }, nextCall())
    }
    const plain = (syncs: boolean): Work => {
      const path = `edit-plain-${syncs}-${hunks}`
      const patches = alternatingPatches(root, path, hunks)
      return (call) => editPlainly(join(root, path), nth(patches, call), syncs)
    }
    return [
      {
        name: `${name}, relaxed`,
        calls: 2,
        ours: ours('relaxed'),
        beside: [{ name: 'applyPatch, rename', work: plain(false), atMost: 0.9 }],
      },
      {
        name: `${name}, default`,
        calls: 2,
        ours: ours('usual'),
        beside: [{ name: 'with fsync', work: plain(true), atMost: 1 }],
      },
    ]
  })
}

async function editPlainly(path: string, patch: string, syncs: boolean): Promise<void> {
  const after = applyPatch(await fs.readFile(path, 'utf8'), patch)
  if (after === false) throw new Error('The patch does not apply.')
  await writePlainly(path, after, syncs)
}
