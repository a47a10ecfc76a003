import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '../../isolation/process-directory.ts'
import { objectName } from './git-objects.ts'
import { runGit } from './run-git.ts'
import type { RunSettings } from '../run-settings.ts'

/** Versions that are tried with each other: 8 make 168 merges, half a second. */
const maxVersions = 8

/**
 * Whether a content is what git makes of a merge, rebase, cherry-pick or revert of these versions without a conflict. Git
 * merges them in a directory of our own, where no configuration of the repository counts.
 */
export async function isCleanMerge(
  settings: RunSettings,
  content: Buffer,
  versions: readonly Buffer[],
): Promise<boolean> {
  const used = versions.slice(-maxVersions)
  if (used.length < 3 || conflict.test(content.toString('latin1'))) return false
  const directory = makeTemporaryDirectory('merge', settings.rootDir)
  try {
    for (const [index, bytes] of used.entries()) writeFileSync(join(directory, `${index}`), bytes)
    const chunks: Buffer[] = []
    const program = triples(used.length).map(
      ([base, ours, theirs]) =>
        `git merge-file -p -q ${ours} ${base} ${theirs} | git hash-object --stdin`,
    )
    await runGit(
      { ...settings, read: [...settings.read, directory] },
      {
        argv: ['sh', '-c', `cd "$0" && { ${program.join('; ')}; }`, directory],
        stdin: '',
        env: { GIT_DIR: directory },
        onOutput: (bytes) => chunks.push(bytes),
      },
    )
    const merged = Buffer.concat(chunks).toString('latin1').split('\n')
    return merged.includes(objectName({ type: 'blob', bytes: content }, 40))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const conflict = /^<{7} /mu

/** Base and two sides; the sides can be exchanged. */
function triples(count: number): readonly (readonly [number, number, number])[] {
  const all: [number, number, number][] = []
  for (let base = 0; base < count; base += 1) {
    for (let ours = 0; ours < count; ours += 1) {
      for (let theirs = ours + 1; theirs < count; theirs += 1) {
        if (base !== ours && base !== theirs) all.push([base, ours, theirs])
      }
    }
  }
  return all
}
