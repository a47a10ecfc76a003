/**
 * How many real changes `edit` applies, beside `git apply --recount` and GNU `patch`: each change of one file in the
 * history of the given repositories, as a diff in several shapes. `pnpm bench edits REPOSITORY... [--changes=800]`; the
 * program fails when a shape that `edit` documents applies to fewer than 99 % of the changes, or when one result is wrong.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandboxFiles } from '@smithers/sandbox'
import { editFile } from '../src/patch/edit-file.ts'
import { type Change, changesOf } from './changes-of-history.ts'
import { shapes } from './patch-shapes.ts'

const repositories = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const wanted = Number(/^--changes=(\d+)$/u.exec(process.argv.at(-1) ?? '')?.[1] ?? 800)
if (repositories.length === 0) {
  console.log('Usage: pnpm bench edits REPOSITORY... [--changes=800]')
  process.exit(2)
}

const root = mkdtempSync(join(tmpdir(), 'edits-bench-'))
const files = createSandboxFiles({ rootDir: root, durability: 'relaxed' })
const path = join(root, 'f')

type Outcome = 'applied' | 'refused' | 'wrong'

async function byEdit({ before, after }: Change, patch: string): Promise<Outcome> {
  writeFileSync(path, before)
  try {
    await editFile(files, { path: 'f', patch, maxBytes: 10_000_000 })
  } catch {
    return readFileSync(path, 'utf8') === before ? 'refused' : 'wrong'
  }
  return readFileSync(path, 'utf8') === after ? 'applied' : 'wrong'
}

function byProgram(program: string, args: readonly string[]) {
  return ({ before, after }: Change, patch: string): Outcome => {
    writeFileSync(path, before)
    const { status } = spawnSync(program, args, { cwd: root, input: patch })
    if (status !== 0) return 'refused'
    return readFileSync(path, 'utf8') === after ? 'applied' : 'wrong'
  }
}

const judges = [
  { name: 'edit', apply: byEdit },
  { name: 'git apply --recount', apply: byProgram('git', ['apply', '--recount', '-']) },
  {
    name: 'patch',
    apply: byProgram('patch', ['-p1', '-s', '-f', '--no-backup-if-mismatch', '-r', '-']),
  },
]

let isMet = true
try {
  // Without a repository around it, git takes the paths of the patch from here.
  execFileSync('git', ['init', '-q', root])
  const each = Math.ceil(wanted / repositories.length)
  const changes = repositories.flatMap((repository) => changesOf(repository, each))
  console.log(`${changes.length} changes of ${repositories.length} repositories; applied, wrong\n`)
  console.log(`| diff | ${judges.map(({ name }) => `\`${name}\``).join(' | ')} |`)
  console.log(`| --- |${' --- |'.repeat(judges.length)}`)
  for (const shape of shapes) {
    const cells: string[] = []
    for (const { name, apply } of judges) {
      const counts = { applied: 0, refused: 0, wrong: 0 }
      for (const [index, change] of changes.entries()) {
        const patch = shape.write(change, index)
        if (patch === undefined) continue
        const outcome = await apply(change, patch)
        counts[outcome] += 1
      }
      const total = counts.applied + counts.refused + counts.wrong
      const share = ((counts.applied / total) * 100).toFixed(1)
      cells.push(`${counts.applied} of ${total} (${share} %), ${counts.wrong}`)
      if (name !== 'edit') continue
      if (counts.wrong > 0 || counts.applied / total < shape.target) isMet = false
    }
    console.log(`| ${shape.name} | ${cells.join(' | ')} |`)
  }
} finally {
  files.close()
  rmSync(root, { recursive: true })
}
if (!isMet) process.exitCode = 1
