/**
 * Names in the root that programs outside the sandbox trust later: hooks that the user's own git runs, start-up files of
 * shells and editors, agent configuration, CI definitions, and files from which package managers take registries and
 * scripts. Directories below the root are not searched for them; a directory covers everything in it.
 */
const defaultProtectedNames: readonly string[] = Object.freeze([
  '.git/hooks',
  '.git/config',
  '.git/config.worktree',
  '.git/info/attributes',
  '.git/commondir',
  '.git/modules',
  '.git/worktrees',
  '.gitmodules',
  '.gitconfig',
  '.config/git',
  '.husky',
  '.pre-commit-config.yaml',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.config/fish',
  '.envrc',
  '.local/bin',
  '.vscode',
  '.idea',
  '.devcontainer',
  '.devcontainer.json',
  '.vimrc',
  '.exrc',
  '.nvim.lua',
  '.nvimrc',
  '.claude',
  '.claude.json',
  '.gemini',
  '.codex',
  '.cursor',
  '.mcp.json',
  '.github/workflows',
  '.github/actions',
  '.gitlab-ci.yml',
  '.circleci',
  '.travis.yml',
  'Jenkinsfile',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  '.pypirc',
  '.cargo/config',
  '.cargo/config.toml',
  '.ssh',
])

/** The names selected by a `protect` option. */
export function resolveProtectedNames(
  protect: 'default' | 'none' | readonly string[],
): readonly string[] {
  if (protect === 'none') return []
  const names = typeof protect === 'string' ? [protect] : protect
  return Object.freeze(
    names.flatMap((name) => (name === 'default' ? defaultProtectedNames : [name])),
  )
}
