import { existsSync, readFileSync } from 'node:fs'
import type { ResourceLimits } from '../running-command.ts'
import type { WrappedCommand } from './wrapped-command.ts'

/**
 * Puts a program before `argv` that sets the limits and then becomes the command: Node cannot set them for a child.
 * Returns `argv` itself when there is nothing to set. Core files are always off: they are large and contain memory.
 *
 * No limit of the address space: V8, Go and the JVM reserve far more than they use and would not start.
 */
export function withResourceLimits(
  argv: readonly [string, ...string[]],
  limits: ResourceLimits,
): readonly [string, ...string[]] {
  if (process.platform === 'win32') return argv
  const nothingToSet =
    limits.fileMb === null && limits.cpuSeconds === null && limits.processes === null
  if (nothingToSet && !writesCoreFiles()) return argv
  return hasPrlimit() ? prlimitCommand(argv, limits) : shellCommand(argv, limits)
}

const prlimit = '/usr/bin/prlimit'

function prlimitCommand(
  argv: readonly [string, ...string[]],
  { fileMb, cpuSeconds, processes }: ResourceLimits,
): readonly [string, ...string[]] {
  return [
    prlimit,
    '--core=0:0',
    ...(fileMb === null ? [] : [`--fsize=${fileMb * mebibyte}`]),
    // A signal that can be caught at the limit, one that cannot a second later.
    ...(cpuSeconds === null ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`]),
    ...(processes === null ? [] : [`--nproc=${processes}`]),
    '--',
    ...argv,
  ]
}

function shellCommand(
  argv: readonly [string, ...string[]],
  { fileMb, cpuSeconds, processes }: ResourceLimits,
): readonly [string, ...string[]] {
  const steps = [
    'ulimit -c 0',
    // POSIX counts blocks of 512 bytes.
    ...(fileMb === null ? [] : [`ulimit -f ${(fileMb * mebibyte) / 512}`]),
    ...(cpuSeconds === null ? [] : [`ulimit -t ${cpuSeconds}`]),
    // Shells disagree on the letter.
    ...(processes === null
      ? []
      : [`{ ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null`]),
  ]
  return ['/bin/sh', '-c', `${steps.join(' && ')} && exec "$@"`, 'sh', ...argv]
}

const mebibyte = 1024 * 1024

const hasPrlimit = once(() => process.platform === 'linux' && existsSync(prlimit))

const writesCoreFiles = once(() => {
  try {
    return !/^Max core file size\s+0\s/m.test(readFileSync('/proc/self/limits', 'latin1'))
  } catch {
    return true
  }
})

function once(compute: () => boolean): () => boolean {
  let value: boolean | undefined
  return () => (value ??= compute())
}

/** Spawns a shell that enters the control groups and then becomes the command, so that no process escapes the count. */
export function enterControlGroups(
  wrapped: WrappedCommand,
  directories: readonly string[],
): WrappedCommand {
  if (directories.length === 0) return wrapped
  const steps = [
    ...directories.map((_, index) => `echo $$ > "$${index + 1}/cgroup.procs"`),
    `shift ${directories.length}`,
    'exec "$@"',
  ]
  return {
    ...wrapped,
    file: '/bin/sh',
    args: ['-c', steps.join(' && '), 'sh', ...directories, wrapped.file, ...wrapped.args],
  }
}
