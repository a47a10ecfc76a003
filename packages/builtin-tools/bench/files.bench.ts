/**
 * What `edit` costs beside the plain recipe: read, `applyPatch` of `diff`, temporary file, rename, without any check.
 * `pnpm bench files`; the program fails when a target is missed.
 */
import { mkdtempSync, promises as fs, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { edit, read, write } from '@smithers/builtin-tools'
import { createSandboxFiles } from '@smithers/sandbox'
import { createToolContext, runWithToolContext } from '@smithers/tool-core'
import { applyPatch } from 'diff'
import { benchArguments, benchCommand } from '../../../scripts/bench/effort.ts'
import { publishPairedMedians } from '../../sandbox/bench/paired-medians.ts'
import { editFile } from '../src/patch/edit-file.ts'
import { alternatingPatches } from './alternating-patches.ts'

const root = mkdtempSync(join(benchArguments[0] ?? tmpdir(), 'edit-bench-'))
const maxBytes = 200_000
const files = createSandboxFiles({ rootDir: root, durability: 'relaxed' })

function editJob(hunks: number) {
  const [ourName, plainName] = [`ours${hunks}`, `plain${hunks}`]
  const [ours, plain] = [
    alternatingPatches(root, ourName, hunks),
    alternatingPatches(root, plainName, hunks),
  ]
  const path = join(root, plainName)
  return {
    name: `edit, ${hunks} hunk${hunks === 1 ? '' : 's'} in 2 000 lines`,
    target: 0.9,
    ours: (round: number) =>
      editFile(files, { path: ourName, patch: ours[round % 2] ?? '', maxBytes }),
    plain: async (round: number) => {
      const after = applyPatch(await fs.readFile(path, 'utf8'), plain[round % 2] ?? '')
      if (after === false) throw new Error('The patch does not apply.')
      await fs.writeFile(`${path}.tmp`, after)
      await fs.rename(`${path}.tmp`, path)
    },
  }
}

const context = createToolContext({ rootDir: root })
const call = { toolCallId: 'call', messages: [] }
const small = 'x'.repeat(1024)
const path = join(root, 'small')
writeFileSync(path, small)

const toolPatches = alternatingPatches(root, 'tool', 1)
const editOnce = editJob(1)

const met = await runWithToolContext(context, () =>
  publishPairedMedians(
    {
      name: 'edits-of-files',
      title: 'Edits without a log',
      about:
        'What `edit` costs beside read, `applyPatch` of `diff`, temporary file, rename; and the tools outside a run.',
      command: benchCommand('files'),
      plain: 'plain recipe',
    },
    [
      editOnce,
      editJob(50),
      {
        name: 'the tool read, 1 KB, journaled in memory',
        ours: () => read.execute({ path: 'small' }, call),
        plain: () => fs.readFile(path, 'utf8'),
      },
      {
        name: 'the tool write, 1 KB, journaled, with fsync',
        ours: () => write.execute({ path: 'written', content: small }, call),
        plain: async () => {
          const handle = await fs.open(`${path}.tmp`, 'w')
          await handle.writeFile(small)
          await handle.sync()
          await handle.close()
          await fs.rename(`${path}.tmp`, path)
        },
      },
      {
        name: 'the tool edit, journaled, with fsync',
        ours: (round) => edit.execute({ path: 'tool', patch: toolPatches[round % 2] ?? '' }, call),
        plain: (round) => editOnce.plain(round),
      },
    ],
  ),
)
files.close()
rmSync(root, { recursive: true, force: true })
if (!met) process.exitCode = 1
