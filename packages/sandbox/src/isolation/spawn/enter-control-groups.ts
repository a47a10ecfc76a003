import type { WrappedCommand } from './wrapped-command.ts'

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
