/**
 * What a call of the built-in tools costs, as a program gets them: `pnpm bench tools [GROUP…]`. Every tool has its
 * defaults and is journaled; beside it runs the plain code that does the same work. Groups: files, journal,
 * history, processes.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchArguments, benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { attempt, publish, publishNotRun } from '../../../scripts/bench/publish.ts'
import type { BenchRow, BenchTable } from '../../../scripts/bench/result.ts'
import { editJobs, readJobs, removeWritten, writeJobs } from './tools/file-jobs.ts'
import { compareHistories } from './tools/history-jobs.ts'
import { loggedReadJobs, nothingJobs } from './tools/journal-jobs.ts'
import { bashJobs, grepJob, whyNoBubblewrap } from './tools/process-jobs.ts'
import { compareReadsAtOnce } from './tools/reads-at-once.ts'
import { compare } from './tools/rounds.ts'
import { toolsOfRuns } from './tools/run-tools.ts'

const groups = { files, journal, history, processes }
const base = realpathSync(mkdtempSync(join(tmpdir(), 'tools-bench-')))
try {
  for (const [name, group] of Object.entries(groups)) {
    if (benchArguments.length === 0 || benchArguments.includes(name))
      await attempt(`tools ${name}`, group)
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}

function directory(name: string): string {
  const path = join(base, name)
  mkdirSync(path)
  return path
}

function tableOf(
  group: keyof typeof groups,
  fields: Pick<BenchTable, 'name' | 'title' | 'about' | 'rounds'>,
  rows: readonly BenchRow[],
): BenchTable {
  return { command: benchCommand('tools', group), unit: 'µs', chart: 'ratio', ...fields, rows }
}

async function files(): Promise<void> {
  const root = directory('files')
  const tools = toolsOfRuns(root)
  const logged = await loggedReadJobs(root, directory('logs'))
  const readRounds = byEffort({ full: 200, short: 150, quick: 3 })
  const reads = await compare([...readJobs(root, tools), ...logged.jobs], {
    rounds: readRounds,
    warmUp: byEffort({ full: 30, short: 30, quick: 1 }),
    prepare: () => {
      tools.renew()
      logged.renew()
    },
  })
  const rounds = byEffort({ full: 150, short: 100, quick: 3 })
  const changes = await compare([...writeJobs(root, tools), ...editJobs(root, tools)], {
    rounds,
    warmUp: byEffort({ full: 20, short: 20, quick: 1 }),
    prepare: () => {
      tools.renew()
      return removeWritten(root)
    },
  })
  publish(
    tableOf(
      'files',
      {
        name: 'file-tools',
        title: 'Reading and changing files',
        about:
          'The tools `read`, `write` and `edit` with their defaults in a run with a log, beside `fs.promises` that checks nothing. Writes go to a temporary file that is renamed, on both sides; an edit applies a diff, there by `applyPatch` of `diff`.',
        rounds: `Medians of ${readRounds} rounds for reads and ${rounds} for changes`,
      },
      [...reads, ...changes],
    ),
  )
  const { time, memory } = compareReadsAtOnce(root)
  const atOnce = { rounds: 'Medians of new processes', about: '' }
  publish({
    ...tableOf('files', { ...atOnce, name: 'reads-at-once', title: 'A thousand reads at once' }, [
      time,
    ]),
    about:
      'The tool `read` in a run with a log, called 1 000 times without waiting, in a new process each round.',
    unit: 'ms',
  })
  publish({
    ...tableOf(
      'files',
      { ...atOnce, name: 'memory-of-reads', title: 'Memory for a thousand reads at once' },
      [memory],
    ),
    about: 'What the same process grows by. The goal is of the growth itself.',
    unit: 'MB',
    chart: 'median',
  })
}

async function journal(): Promise<void> {
  const { jobs, renew } = nothingJobs(directory('nothing'))
  const rounds = byEffort({ full: 200, short: 150, quick: 3 })
  const rows = await compare(jobs, {
    rounds,
    warmUp: byEffort({ full: 40, short: 40, quick: 1 }),
    prepare: renew,
  })
  publish({
    ...tableOf(
      'journal',
      {
        name: 'journal',
        title: 'A tool that does nothing',
        about:
          'All that a call costs before its tool does anything: the schema, the key, a row before and a row after.',
        rounds: `Medians of ${rounds} rounds of 50 calls`,
      },
      rows,
    ),
    chart: 'median',
  })
}

async function history(): Promise<void> {
  publish({
    ...tableOf(
      'history',
      {
        name: 'history',
        title: 'A call of a second attempt',
        about:
          'A second attempt looks at what the first one did. With a log in SQLite, a call must cost as much after a million earlier calls as after a thousand.',
        rounds: `Medians of ${byEffort({ full: 40, short: 30, quick: 3 })} rounds of 25 calls`,
      },
      await compareHistories(directory('history')),
    ),
    chart: 'median',
  })
}

async function processes(): Promise<void> {
  const without = whyNoBubblewrap()
  if (without !== undefined) publishNotRun({ what: '`bash` beside bare bubblewrap', why: without })
  const root = directory('processes')
  const tools = toolsOfRuns(root)
  const { one, atOnce } = bashJobs(root, tools, without === undefined)
  const prepare = (): void => tools.renew()
  const rounds = byEffort({ full: 150, short: 100, quick: 3 })
  const many = byEffort({ full: 8, short: 5, quick: 1 })
  const alone = await compare([one], { rounds, warmUp: 5, prepare })
  const crowd = await compare([atOnce], { rounds: many, warmUp: 1, prepare })
  const searched = directory('searched')
  const searching = toolsOfRuns(searched)
  const searches = byEffort({ full: 40, short: 25, quick: 2 })
  const grep = await compare([grepJob(searched, searching)], {
    rounds: searches,
    warmUp: byEffort({ full: 3, short: 3, quick: 0 }),
    prepare: () => searching.renew(),
  })
  publish(
    tableOf(
      'processes',
      {
        name: 'process-tools',
        title: 'Running commands and searching',
        about:
          '`bash` and `grep` with their defaults, isolated by the best backend of the machine, beside the program alone: Node’s `spawn`, `bwrap` as one would write it by hand, `rg`. `grep` searches 8 000 files of 100 MB together.',
        rounds: `Medians of ${rounds} rounds, ${many} of 64 at once, ${searches} of grep`,
      },
      [...alone, ...crowd, ...grep],
    ),
  )
}
