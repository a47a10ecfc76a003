import { checkAutoInScript, checkAutoPolicy } from './auto-policy.ts'
import { basename, type CommandCheck, type CommandRefusal } from './command-policy.ts'
import { readInnerCommand } from './inner-command.ts'
import { readShellScript } from './shell-script.ts'

/** Levels of `sh -c` in `sh -c` to follow. */
const maxDepth = 4

/**
 * Asks a check about every command of a shell script that can be read with certainty, so that a script is refused before
 * its first command runs, and not in the middle.
 *
 * *Guarantees*: a clear error for commands that are written out. *Does not protect against* computed ones: that is the task
 * of isolation, or of the strict check, which refuses what it cannot read.
 */
export function checkScript(source: string, check: CommandCheck): CommandRefusal | null {
  return checkAt(source, check === checkAutoPolicy ? checkAutoInScript : check, 0)
}

function checkAt(source: string, check: CommandCheck, depth: number): CommandRefusal | null {
  // Where the system keeps commands off the network, one that may not run, or may fail, is no reason to refuse the rest.
  const mayFail = check === checkAutoInScript
  for (const found of readShellScript(source)) {
    if (found.kind !== 'command' || (mayFail && found.isOptional)) continue
    const refusal = check(found.argv) ?? checkInner(found.argv, check, depth)
    if (refusal !== null) return refusal
  }
  return null
}

function checkInner(
  [command, ...args]: readonly [string, ...string[]],
  check: CommandCheck,
  depth: number,
): CommandRefusal | null {
  if (depth >= maxDepth) return null
  for (const inner of readInnerCommand(basename(command), args)) {
    const refusal =
      inner.kind === 'command'
        ? (check(inner.argv) ?? checkInner(inner.argv, check, depth + 1))
        : inner.kind === 'script'
          ? checkAt(inner.source, check, depth + 1)
          : null
    if (refusal !== null) return refusal
  }
  return null
}
