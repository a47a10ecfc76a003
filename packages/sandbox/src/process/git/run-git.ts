import type { OpenDirectory } from '../../files/operations/stat-and-list.ts'
import type { CommandInput } from '../supervise.ts'
import { isolate } from '../isolate.ts'
import type { RunSettings } from '../run-settings.ts'
import { resolveLimits } from '../../options/limits.ts'

/** Longer than a search of a large history takes. */
const timeoutMs = 20_000

/** One git command of our own. */
export interface GitCommand {
  /** Begins with `git`, or with a shell that runs it. */
  readonly argv: readonly [string, ...string[]]
  readonly stdin: CommandInput
  readonly env?: Readonly<Record<string, string>>
  readonly onOutput: (bytes: Buffer) => void
}

/**
 * Runs git under the sandbox's own isolation: the configuration that it reads may be the agent's. True when it
 * succeeded.
 */
export async function runGit(settings: RunSettings, command: GitCommand): Promise<boolean> {
  let directory: OpenDirectory | undefined
  try {
    directory = settings.files.openDirectory('.')
    const { outcome, failure } = await isolate(settings, {
      argv: command.argv,
      env: {
        ...settings.env,
        // Replaced objects and fetched ones would not be those that were recorded.
        GIT_NO_REPLACE_OBJECTS: '1',
        GIT_NO_LAZY_FETCH: '1',
        GIT_OPTIONAL_LOCKS: '0',
        LC_ALL: 'C',
        // Commands may have changed it.
        GIT_CONFIG_GLOBAL: '/dev/null',
        // As `-c safe.directory=*`: inside a user namespace the root may seem to belong to another user.
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        ...command.env,
      },
      limits: resolveLimits({ timeoutMs }),
      options: {
        // Not 'read': git needs /dev/null.
        stdin: command.stdin,
        onOutput: ({ stream, bytes }) => {
          // Copied: the memory of a piece is reused.
          if (stream === 'stdout') command.onOutput(Buffer.from(bytes))
        },
      },
      cwd: directory.absolutePath,
      cwdHandle:
        process.platform === 'linux' && directory.fd !== undefined
          ? `/proc/${process.pid}/fd/${directory.fd}`
          : directory.absolutePath,
      protect: [],
      deny: [],
      hooks: {},
      // Commands may have left settings of git in theirs.
      keepsHome: false,
    })
    return failure === null && outcome.end.kind === 'exited' && outcome.end.code === 0
  } catch {
    // Git is not installed, or cannot be started here: it answers no question.
    return false
  } finally {
    directory?.close()
  }
}
