import { callDocument } from '@smithers/cli/src/documents/documents.ts'
import { relative } from 'node:path'
import type { SandboxReport } from '@smithers/sandbox'
import type { ToolCallRow } from '@smithers/tool-core'
import type { RunRow } from '@smithers/tool-core/log'
import { callTable } from '@smithers/cli/src/terminal/call-table.ts'
import { coloredPatch } from '@smithers/cli/src/terminal/colored-patch.ts'
import { isolationSentence, missingIsolation } from '@smithers/cli/src/terminal/isolation-text.ts'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'
import type { DemoCheck } from './demo-checks.ts'
import type { SampleRepository } from './sample-repository.ts'

/** Reports the progress of the demo. */
export interface DemoReporter {
  introduced(story: string): void
  /** An event of the run. */
  happened(text: string): void
  /** A line printed by a worker. */
  printed(line: string): void
  /** The demo approved a call itself. */
  approved(text: string): void
  changed(patch: string): void
  recorded(runs: readonly RunRow[], rows: readonly ToolCallRow[]): void
  guarded(report: SandboxReport): void
  checked(checks: readonly DemoCheck[]): void
  /** What remains on disk. */
  left(repository: SampleRepository): void
}

/** Text for people. */
export function createDemoTextReporter({ line, colors }: Terminal): DemoReporter {
  const title = (text: string): void => line(`\n${colors.bold(text)}\n`)
  return {
    introduced(story) {
      line(
        colors.bold(
          'A workflow repairs a small repository, is killed while it pays, and continues.',
        ),
      )
      line(
        colors.dim(
          'Scripted: what the models say. Real: tools, files, tests, git, processes, log.',
        ),
      )
      line(`\n${story}\n`)
    },
    happened(text) {
      line(colors.bold(text))
    },
    printed(text) {
      if (text.trim() !== '') line(`  ${text}`)
    },
    approved(text) {
      line(colors.yellow(text))
    },
    changed(patch) {
      title('What changed (git diff)')
      line(coloredPatch(patch.trimEnd(), colors))
    },
    recorded(runs, rows) {
      title('What was recorded (read back from SQLite)')
      for (const { runId, workflow, status } of runs) {
        line(`run ${runId}, workflow ${workflow}: ${status}`)
      }
      line()
      line(callTable(rows, Date.now(), colors))
    },
    guarded(report) {
      title('What was enforced')
      line('files     every path is opened step by step below the root, by descriptor')
      line(`commands  ${isolationSentence(report)}`)
      for (const text of missingIsolation(report)) line(colors.yellow(`          ${text}`))
    },
    checked(checks) {
      title('What holds')
      for (const { claim, holds } of checks) {
        line(`${holds ? colors.green('✓') : colors.red('✗')} ${claim}`)
      }
    },
    left({ folder, logPath }) {
      line(`\nLook closer: ${thisProgram()} show 1 --task pay --attempt 1 --log ${logPath}`)
      line(`As a page:   ${thisProgram()} view --log ${logPath}`)
      line(colors.dim(`Everything is in ${folder}; remove it when you are done.`))
    },
  }
}

/** JSON Lines for programs. */
export function createDemoJsonReporter({ json }: Terminal): DemoReporter {
  return {
    introduced: (story) => json({ type: 'task', task: story }),
    happened: (text) => json({ type: 'workflow', text }),
    printed: (line) => json(parsedLine(line)),
    approved: (text) => json({ type: 'approval', text }),
    changed: (patch) => json({ type: 'diff', patch }),
    recorded(runs, rows) {
      for (const run of runs) json({ type: 'run', ...run })
      for (const row of rows) json(callDocument(row, Date.now()))
    },
    guarded: (report) => json({ type: 'isolation', ...report }),
    checked(checks) {
      for (const check of checks) json({ type: 'check', ...check })
    },
    left: ({ folder, rootDir, logPath }) => json({ type: 'left', folder, rootDir, logPath }),
  }
}

/** A worker prints JSON, except for the paragraph of `smithers why` and remarks. */
function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return { type: 'workflow', text: line }
  }
}

/** The command that started this process: the user may not have the same Node, or pnpm, on the PATH. */
function thisProgram(): string {
  const [node = 'node', script = 'smithers'] = process.argv
  return [node, ...process.execArgv, relative(process.cwd(), script)].join(' ')
}
