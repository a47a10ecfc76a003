import type { Command } from 'commander'
import { checkedRoot } from '../sandbox/root-directory.ts'
import { CommandFailure, exitCodes } from '../errors/command-failure.ts'
import { factsTable, isolationTable, missingIsolation } from '../terminal/isolation-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Adds `smithers doctor`: reports what the operating system enforces here. */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  program
    .command('doctor')
    .summary('report what is enforced on this machine')
    .description(
      'Reports what the operating system enforces for the commands of an agent. It finds out by trying: it starts a command that must fail to read, write, connect and survive. Exits with 1 when commands are not isolated.',
    )
    .option('--root <dir>', 'the folder that an agent would work in', '.')
    .option(
      '--json',
      'print one JSON document: the sandbox report, the network by host, the versions',
    )
    .action((options: { readonly root: string; readonly json?: true }) =>
      examine(options, terminal),
    )
}

async function examine(
  options: { readonly root: string; readonly json?: true },
  terminal: Terminal,
): Promise<void> {
  const rootDir = checkedRoot(options.root)
  const [{ isolationFor }, { networkByHost }, { machineVersions }] = await Promise.all([
    import('../sandbox/isolation-for.ts'),
    import('../sandbox/host-network.ts'),
    import('../sandbox/machine-versions.ts'),
  ])
  const [report, hosts, versions] = await Promise.all([
    isolationFor(rootDir, 'none'),
    networkByHost(rootDir),
    machineVersions(),
  ])
  if (options.json) {
    terminal.json({ type: 'doctor', ...report, networkByHost: hosts, versions })
  } else {
    terminal.line(`isolation backend: ${terminal.colors.bold(report.backend)}`)
    terminal.line(isolationTable(report, terminal.colors))
    terminal.line(`\n${factsTable({ ...report, networkByHost: hosts }, versions, terminal.colors)}`)
    if (hosts.why !== null) terminal.line(`\nnetwork by host: ${hosts.why}`)
    const missing = missingIsolation(report)
    if (missing.length > 0) terminal.line(`\n${missing.join('\n')}`)
  }
  if (report.backend === 'none') {
    throw new CommandFailure(
      exitCodes.failed,
      'Commands are not isolated here; only the command policy applies.',
    )
  }
}
