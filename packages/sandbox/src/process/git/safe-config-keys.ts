/** Keys of a repository's configuration that run no program, read no other file and disable no check. */
const safeKeys: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|commentchar|sparsecheckout|sparsecheckoutcone|untrackedcache|preloadindex|checkstat|trustctime)$/u,
  /^extensions\.(?:worktreeconfig|objectformat|refstorage)$/u,
  /^user\.(?:name|email|useconfigonly)$/u,
  /^(?:author|committer)\.(?:name|email)$/u,
  /^branch\.[^]+\.(?:remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base)$/u,
  /^branch\.(?:autosetupmerge|autosetuprebase|sort)$/u,
  /^remote\.[^]+\.(?:url|pushurl|fetch|push|tagopt|mirror|prune|prunetags|skipdefaultupdate|skipfetchall|gh-resolved)$/u,
  /^remote\.pushdefault$/u,
  /^submodule\.[^]+\.(?:active|url|branch)$/u,
  /^(?:init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|fetch\.(?:prune|prunetags|parallel))$/u,
  /^(?:merge\.(?:ff|conflictstyle|renames|log|autostash)|rebase\.(?:autosquash|autostash|updaterefs|abbreviatecommands)|rerere\.(?:enabled|autoupdate))$/u,
  /^(?:diff\.(?:algorithm|renames|mnemonicprefix|noprefix|colormoved|context)|log\.(?:date|decorate|abbrevcommit)|status\.(?:short|branch|showuntrackedfiles|showstash)|commit\.(?:verbose|cleanup)|tag\.sort|column\.ui|color\.ui|gc\.auto|index\.version)$/u,
  /^advice\.[a-z0-9-]+$/u,
]

/** The settings of a list by `git config --list -z` that may not differ, in their order. */
export function unsafeSettings(list: string): readonly string[] {
  return list.split('\0').filter((setting) => setting !== '' && !isSafe(setting))
}

function isSafe(setting: string): boolean {
  const end = setting.indexOf('\n')
  const key = end === -1 ? setting : setting.slice(0, end)
  const value = end === -1 ? '' : setting.slice(end + 1)
  // `ext::sh -c …` is an address that runs a program; one with a dash could be read as an option.
  if (/^(?:remote|submodule|branch)\./u.test(key) && /^(?:[a-z0-9+.-]*::|-)/iu.test(value))
    return false
  return safeKeys.some((safe) => safe.test(key))
}
