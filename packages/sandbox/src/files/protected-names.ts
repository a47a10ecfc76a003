/**
 * Names below the root that something outside the sandbox trusts later: hooks that the user's own git runs, start-up
 * files of shells and editors, configuration of agents, CI definitions, and files from which package managers take
 * registries and scripts. Relative to the root; a directory stands for all that is in it.
 */
const defaultProtectedNames: readonly string[] = Object.freeze([
  '.git/hooks',
  '.git/config',
  '.git/config.worktree',
  '.git/info/attributes',
  '.gitmodules',
  '.husky',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.config/fish',
  '.envrc',
  '.vscode',
  '.idea',
  '.vimrc',
  '.exrc',
  '.nvim.lua',
  '.nvimrc',
  '.claude',
  '.codex',
  '.cursor',
  '.mcp.json',
  '.github/workflows',
  '.github/actions',
  '.gitlab-ci.yml',
  '.circleci',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  '.pypirc',
  '.ssh',
])

/** The names that a `protect` option means. */
export function resolveProtectedNames(
  protect: 'default' | 'none' | readonly string[],
): readonly string[] {
  if (protect === 'none') return []
  return protect === 'default' ? defaultProtectedNames : Object.freeze([...protect])
}
