/** Names of arguments that models use, by tool and by the argument that they mean. */
export type ArgumentNames = Readonly<Record<string, readonly string[]>>

const path = [
  'file',
  'filename',
  'filepath',
  'target',
  'targetfile',
  'absolutepath',
  'relativepath',
]
const directory = ['directory', 'dir', 'folder', 'cwd', 'root', 'searchpath']

/** Written as {@link plainName} makes them. */
export const argumentNames: Readonly<Record<string, ArgumentNames>> = {
  read: {
    path,
    offset: ['start', 'startline', 'linestart', 'fromline', 'line'],
    limit: ['lines', 'numlines', 'maxlines', 'linecount', 'count'],
    numbered: ['linenumbers', 'showlinenumbers'],
  },
  write: { path, content: ['contents', 'text', 'filetext', 'filecontent', 'data', 'body'] },
  edit: { path, patch: ['diff', 'content', 'unifieddiff', 'patchtext', 'input'] },
  replace: {
    path,
    oldText: ['oldstring', 'oldstr', 'old', 'search', 'find'],
    newText: ['newstring', 'newstr', 'new', 'replacement', 'replace'],
    replaceAll: ['all', 'global'],
  },
  grep: {
    pattern: ['query', 'regex', 'regexp', 'search', 'searchterm'],
    path: [...directory, ...path],
    glob: ['include', 'includepattern', 'filepattern'],
    ignoreCase: ['i', 'caseinsensitive', 'insensitive'],
    context: ['c', 'contextlines'],
    mode: ['outputmode'],
    limit: ['headlimit', 'maxresults', 'maxcount', 'maxmatches'],
  },
  glob: {
    pattern: ['glob', 'globpattern', 'query', 'name'],
    path: directory,
    limit: ['headlimit', 'maxresults'],
  },
  bash: {
    cmd: ['executable', 'program', 'binary'],
    command: ['script', 'shell', 'code', 'commandline'],
    args: ['arguments', 'argv', 'params'],
    timeoutMs: ['timeout', 'timeoutmilliseconds'],
  },
}

/** Names that other tool sets give to tools like these. */
export const toolNames: Readonly<Record<string, readonly string[]>> = {
  read: ['readfile', 'view', 'viewfile', 'cat', 'openfile'],
  write: ['writefile', 'createfile', 'create'],
  edit: ['editfile', 'applypatch', 'patch', 'applydiff'],
  replace: ['strreplace', 'strreplaceeditor', 'searchreplace', 'replaceinfile', 'stringreplace'],
  grep: ['search', 'searchfiles', 'ripgrep', 'rg', 'greptool', 'searchcode'],
  glob: ['find', 'findfiles', 'globtool', 'listfiles', 'ls', 'filesearch'],
  bash: ['shell', 'sh', 'runcommand', 'execute', 'exec', 'terminal', 'runshellcommand'],
}

/** A name without case, underscores and dashes. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z\d]/gu, '')
}
