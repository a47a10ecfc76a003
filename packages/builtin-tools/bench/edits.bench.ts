/**
 * How many real changes `edit` applies, beside `git apply --recount` and GNU `patch`: each change of one file in the
 * history of the given repositories, as a diff in several shapes. `pnpm bench edits REPOSITORY... [--changes=800]`; the
 * program fails when a shape that `edit` documents applies to fewer than 99 % of the changes, or when one result is wrong.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchArguments, benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { publish } from '../../../scripts/bench/publish.ts'
import { atLeast, type BenchRow, benchRow, single } from '../../../scripts/bench/result.ts'
import { createSandboxFiles } from '@smithers/sandbox'
import { editFile } from '../src/patch/edit-file.ts'
import { type Change, changesOf } from './changes-of-history.ts'
import { shapes } from './patch-shapes.ts'

const repositories = benchArguments.filter((argument) => !argument.startsWith('--'))
const asked = benchArguments.find((argument) => argument.startsWith('--changes='))?.slice(10)
const wanted = Number(asked ?? byEffort({ full: 800, short: 150, quick: 4 }))
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

function historiesText(): string {
  if (repositories.length > 1) return `${repositories.length} repositories`
  return repositories[0] === '.' ? 'this repository' : 'a repository'
}

let isMet = true
try {
  // Without a repository around it, git takes the paths of the patch from here.
  execFileSync('git', ['init', '-q', root])
  const each = Math.ceil(wanted / repositories.length)
  const changes = repositories.flatMap((repository) => changesOf(repository, each))
  if (changes.length === 0) throw new Error('The histories have no change of a text file.')
  const rows: BenchRow[] = []
  for (const shape of shapes) {
    const beside: BenchRow[] = []
    for (const { name, apply } of judges) {
      const counts = { applied: 0, refused: 0, wrong: 0 }
      for (const [index, change] of changes.entries()) {
        const patch = shape.write(change, index)
        if (patch === undefined) continue
        const outcome = await apply(change, patch)
        counts[outcome] += 1
      }
      const total = counts.applied + counts.refused + counts.wrong
      const isOurs = name === 'edit'
      beside.push(
        benchRow(single((counts.applied / total) * 100), {
          job: shape.name,
          subject: name,
          isOurs,
          note: `${counts.applied} of ${total}, ${counts.wrong} wrong`,
          goal: isOurs ? atLeast(shape.target * 100) : undefined,
        }),
      )
      if (isOurs && counts.wrong > 0) isMet = false
    }
    rows.push(...beside)
  }
  const missed = publish({
    name: 'diffs',
    title: 'Diffs that apply',
    about: `Real changes from the history of ${historiesText()}, written as diffs in the shapes that models write, and applied by \`edit\`, by \`git apply --recount\` and by GNU \`patch\`. A change counts when the file is afterwards what the commit left; the note says how many went wrong without an error. [Coding tools](coding-tools.md) has the figures of two large histories.`,
    command: benchCommand('edits', ...benchArguments),
    rounds: `${changes.length} changes`,
    unit: '%',
    chart: 'median',
    rows,
  })
  if (missed > 0) isMet = false
} finally {
  files.close()
  rmSync(root, { recursive: true })
}
if (!isMet) process.exitCode = 1
