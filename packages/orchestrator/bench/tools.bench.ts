/**
 * What a call of the built-in tools costs, as a program gets them: `pnpm bench tools [GROUP…]`. Every tool has its
 * defaults and is journaled; beside it runs the plain code that does the same work. Groups: files, journal,
 * history, processes.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { editJobs, readJobs, removeWritten, writeJobs } from './tools/file-jobs.ts'
import { compareHistories } from './tools/history-jobs.ts'
import { loggedReadJobs, nothingJobs } from './tools/journal-jobs.ts'
import { bashJobs, grepJob } from './tools/process-jobs.ts'
import { compareReadsAtOnce } from './tools/reads-at-once.ts'
import { compare, printHead } from './tools/rounds.ts'
import { toolsOfRuns } from './tools/run-tools.ts'

const groups = { files, journal, history, processes }
const chosen = process.argv.slice(2)
const base = realpathSync(mkdtempSync(join(tmpdir(), 'tools-bench-')))
let missed = 0
try {
  printHead()
  for (const [name, group] of Object.entries(groups)) {
    if (chosen.length === 0 || chosen.includes(name)) missed += await group()
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}
console.log(missed === 0 ? '\nAll goals are met.' : `\n${missed} goals are missed.`)

function directory(name: string): string {
  const path = join(base, name)
  mkdirSync(path)
  return path
}

async function files(): Promise<number> {
  const root = directory('files')
  const tools = toolsOfRuns(root)
  const prepare = (): void => tools.renew()
  const logged = await loggedReadJobs(root, directory('logs'))
  const reads = await compare([...readJobs(root, tools), ...logged.jobs], {
    rounds: 200,
    warmUp: 30,
    prepare: () => {
      prepare()
      logged.renew()
    },
  })
  const changing = [...writeJobs(root, tools), ...editJobs(root, tools)]
  const changes = await compare(changing, {
    rounds: 150,
    warmUp: 20,
    prepare: () => {
      prepare()
      return removeWritten(root)
    },
  })
  return reads + changes + compareReadsAtOnce(root)
}

async function journal(): Promise<number> {
  const { jobs, renew } = nothingJobs(directory('nothing'))
  return compare(jobs, { rounds: 200, warmUp: 40, prepare: renew })
}

function history(): Promise<number> {
  return compareHistories(directory('history'))
}

async function processes(): Promise<number> {
  const root = directory('processes')
  const tools = toolsOfRuns(root)
  const { one, atOnce } = bashJobs(root, tools)
  const prepare = (): void => tools.renew()
  const single = await compare([one], { rounds: 150, warmUp: 5, prepare })
  const many = await compare([atOnce], { rounds: 8, warmUp: 1, prepare })
  const searched = directory('searched')
  const searching = toolsOfRuns(searched)
  const grep = grepJob(searched, searching)
  return (
    single + many + (await compare([grep], { rounds: 40, warmUp: 3, prepare: searching.renew }))
  )
}
