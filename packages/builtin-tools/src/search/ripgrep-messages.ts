import type { SandboxFiles } from '@smithers/sandbox'

/**
 * What ripgrep said that the model may read: nothing about denied files and, without isolation, only of files that the
 * guard finds too.
 */
export async function permittedMessages(
  said: string,
  files: SandboxFiles,
  isConfined: boolean,
): Promise<string> {
  const permitted = withoutDenied(said, (name) => files.isDenied(name))
  return isConfined ? permitted : withoutUnseen(permitted, files)
}

/** The note of a result when a part of the files could not be searched. */
export function incompleteNote(message: string): string {
  return `[ripgrep could not search everything: ${message}]`
}

/**
 * ripgrep's messages about files that the guard finds too. The reason is dropped: it may quote an ignore file from
 * outside. A message that begins otherwise is about the pattern and came before any search.
 */
async function withoutUnseen(messages: string, files: SandboxFiles): Promise<string> {
  if (!messages.startsWith('./')) return messages
  const paths = messages.split('\n').flatMap((line) => /^\.\/(.+?): /u.exec(line)?.[1] ?? [])
  const seen: string[] = []
  for (const path of new Set(paths)) {
    if (await files.exists(path).catch(() => false)) seen.push(`./${path}: not searched`)
  }
  return seen.join('\n')
}

/** ripgrep's messages without those about denied files. */
function withoutDenied(messages: string, isDenied: (relativePath: string) => boolean): string {
  const isPermitted = (line: string): boolean => {
    const end = line.indexOf(': ')
    return !line.startsWith('./') || end === -1 || !isDenied(line.slice(2, end))
  }
  return messages.split('\n').filter(isPermitted).join('\n')
}
