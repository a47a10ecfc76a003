import type { ServerSettings } from '../options/server-options.ts'
import { printableLine } from '../text/printable.ts'

/**
 * Three lines for the agent: the root, the network and the isolation. They say what holds on every machine: to find out
 * how far this one confines commands takes longer than a client should wait for the first answer.
 *
 * @param runsCommands Whether commands can be run at all
 */
export function instructionsFor(settings: ServerSettings, runsCommands: boolean): string {
  const { rootDir, readOnly } = settings
  const root = `Root: the tools work in ${printableLine(rootDir)}${readOnly ? ', read only' : ''}, and paths are relative to it. The tools for files reach nothing outside.`
  if (!runsCommands) return `${root}\nNetwork: none.\nIsolation: no commands are run.`
  return `${root}\nNetwork: ${networkOf(settings)}\nIsolation: ${isolations[settings.isolation]}`
}

function networkOf({ allowNetwork, isolation }: ServerSettings): string {
  if (allowNetwork) return 'commands reach every host.'
  return {
    require: 'commands reach nothing; the operating system enforces it.',
    auto: 'commands should reach nothing; the operating system enforces it where it can.',
    none: 'commands should reach nothing; only a check of the command line enforces it.',
  }[isolation]
}

const isolations = {
  require:
    'require; commands run only where the operating system enforces the limits of files, network, processes and system calls.',
  auto: 'auto; the operating system confines commands as far as it can here, which "smithers doctor" shows.',
  none: 'none; the operating system does not confine commands.',
} as const satisfies Record<ServerSettings['isolation'], string>
