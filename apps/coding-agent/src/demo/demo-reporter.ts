import { relative } from 'node:path'
import type { SandboxReport } from '@smithers/sandbox'
import type { ToolCallRow } from '@smithers/tool-core'
import { callTable } from '../terminal/call-table.ts'
import { coloredPatch } from '../terminal/colored-patch.ts'
import { isolationSentence, missingIsolation } from '../terminal/isolation-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { DemoCheck } from './demo-checks.ts'
import type { SampleRepository } from './sample-repository.ts'

/** Shows what surrounds the run of the demo; the run itself has its own reporter. */
export interface DemoReporter {
  introduced(task: string): void
  /** A call was approved for want of a person. */
  approved(text: string): void
  changed(patch: string): void
  recorded(rows: readonly ToolCallRow[]): void
  guarded(report: SandboxReport): void
  /** The workflow that is killed begins. */
  killing(): void
  /** A line of what happens in it. */
  happened(text: string): void
  checked(checks: readonly DemoCheck[]): void
  /** What stays on the disk. */
  left(repository: SampleRepository): void
}

/** For a person. */
export function createDemoTextReporter({ line, colors }: Terminal): DemoReporter {
  const title = (text: string): void => line(`\n${colors.bold(text)}\n`)
  return {
    introduced(task) {
      line(colors.bold('An agent repairs a small repository.'))
      line(colors.dim('Scripted: what the model says. Real: tools, files, tests, git, log.'))
      line(`\n${task}\n`)
    },
    approved(text) {
      line(colors.yellow(text))
    },
    changed(patch) {
      title('What changed (git diff)')
      line(coloredPatch(patch.trimEnd(), colors))
    },
    recorded(rows) {
      title('What was recorded (read back from SQLite)')
      line(callTable(rows, Date.now(), colors))
    },
    guarded(report) {
      title('What stood guard')
      line('files     every path is walked beneath the root, descriptor by descriptor')
      line(`commands  ${isolationSentence(report)}`)
      for (const text of missingIsolation(report)) line(colors.yellow(`          ${text}`))
    },
    killing() {
      title('A workflow pays the first share, is killed, and goes on')
    },
    happened(text) {
      line(text.startsWith('  ') ? text : colors.bold(text))
    },
    checked(checks) {
      title('What holds')
      for (const { claim, holds } of checks) {
        line(`${holds ? colors.green('✓') : colors.red('✗')} ${claim}`)
      }
    },
    left({ folder, logPath }) {
      line(`\nLook closer: ${thisProgram()} show 4 --log ${logPath}`)
      line(colors.dim(`Everything is in ${folder}; remove it when you are done.`))
    },
  }
}

/** For a program: one JSON document a line. */
export function createDemoJsonReporter({ json }: Terminal): DemoReporter {
  return {
    introduced: (task) => json({ type: 'task', task }),
    approved: (text) => json({ type: 'approval', text }),
    changed: (patch) => json({ type: 'diff', patch }),
    recorded(rows) {
      for (const row of rows) json({ type: 'call', ...row })
    },
    guarded: (report) => json({ type: 'isolation', ...report }),
    killing() {},
    happened: (text) => json({ type: 'workflow', text: text.trim() }),
    checked(checks) {
      for (const check of checks) json({ type: 'check', ...check })
    },
    left: ({ folder, rootDir, logPath }) => json({ type: 'left', folder, rootDir, logPath }),
  }
}

/** How this process was started: the person need not have the same Node, nor pnpm, on the PATH. */
function thisProgram(): string {
  const [node = 'node', script = 'smithers'] = process.argv
  return [node, ...process.execArgv, relative(process.cwd(), script)].join(' ')
}
