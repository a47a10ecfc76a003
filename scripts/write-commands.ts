/** Writes apps/docs/api/command-line.md: what `--help` of each command prints. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createProgram } from '../packages/cli/src/program.ts'
import { createTerminal } from '../packages/cli/src/terminal/terminal.ts'

const width = 90

const program = createProgram({
  version: '0.0.0',
  terminal: createTerminal({ stdout: process.stdout, stderr: process.stderr, env: {} }),
  env: {},
  interrupted: new AbortController().signal,
})

type Command = typeof program

function sections(command: Command, parents: readonly string[]): readonly string[] {
  const words = [...parents, command.name()]
  const help = command.configureHelp({ ...command.configureHelp(), helpWidth: width })
  const section = `## ${words.join(' ')}\n\n\`\`\`text\n${help.helpInformation().trim()}\n\`\`\``
  return [section, ...command.commands.flatMap((inner) => sections(inner, words))]
}

mkdirSync('apps/docs/api', { recursive: true })
writeFileSync(
  'apps/docs/api/command-line.md',
  `# Command line

Every command of \`smithers\` with its options, as \`--help\` prints them. The program comes with \`@smithers/cli\`; an app adds its own commands to it.

Exit codes: 0 done, 1 failed, 2 wrong usage or bad input (nothing was changed), 3 a call waits for approval, 130 interrupted.

${sections(program, []).join('\n\n')}
`,
)
