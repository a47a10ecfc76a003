import type { OpenRoot } from '../../files/open-root.ts'
import type { GitFacts } from '../../path-rules/judge-change.ts'
import type { RunSettings } from '../run-settings.ts'
import { GitHistory } from './git-history.ts'
import { readRefTips } from './ref-tips.ts'
import { runGit } from './run-git.ts'
import { unsafeSettings } from './safe-config-keys.ts'

/** Records what the refs name now, and answers questions about changes from then on. */
export function createGitFacts(root: OpenRoot, settings: () => RunSettings): GitFacts {
  const history = new GitHistory(readRefTips(root))
  return {
    isKnownVersion: (path, content) => history.isKnownVersion(settings(), path, content),
    async changesOnlySafeKeys(before, after) {
      const lists = [before ?? Buffer.alloc(0), after].map((config) =>
        unsafeSettingsOf(settings(), config),
      )
      const [earlier, later] = await Promise.all(lists)
      if (earlier === undefined || later === undefined) return false
      return earlier.join('\0') === later.join('\0')
    },
  }
}

/** As git itself reads a configuration; `undefined` when it cannot. */
async function unsafeSettingsOf(
  settings: RunSettings,
  config: Buffer,
): Promise<readonly string[] | undefined> {
  if (config.length === 0) return []
  const chunks: Buffer[] = []
  const isRead = await runGit(settings, {
    argv: ['git', 'config', '--file', '-', '--list', '-z', '--no-includes'],
    stdin: config,
    // No repository is needed, so none is looked for.
    env: { GIT_DIR: '/nonexistent' },
    onOutput: (bytes) => chunks.push(bytes),
  })
  return isRead ? unsafeSettings(Buffer.concat(chunks).toString('latin1')) : undefined
}
