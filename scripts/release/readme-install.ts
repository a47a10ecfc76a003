import { readFileSync } from 'node:fs'

/** One line of the README's section "Install". */
export interface InstallLine {
  /** What the line's comment says that it is for. */
  readonly purpose: string
  /** What follows `npm install`, or `npx`. */
  readonly words: readonly string[]
}

const block = /^<!-- rehearsed: (\S+) -->\n+```sh\n(.*?)^```$/gms

/**
 * The lines of a block of a README that follows `<!-- rehearsed: NAME -->`.
 *
 * @throws Error when the page has no such block
 */
export function rehearsedLines(page: string, name: string): string[] {
  for (const [, found, lines = ''] of readFileSync(page, 'utf8').matchAll(block)) {
    if (found === name) return lines.trimEnd().split('\n')
  }
  throw new Error(`${page} has no block after <!-- rehearsed: ${name} -->`)
}

/**
 * The lines of the README's section "Install" that begin with `npm install` or `npx`, each with its comment.
 *
 * @throws Error for a line that is neither, or has no comment
 */
export function installLines(page: string): InstallLine[] {
  return rehearsedLines(page, 'install').map((line) => {
    const [, command = '', purpose] = /^(?:npm install|npx) (\S.*?) +# (\S.*)$/.exec(line) ?? []
    if (purpose === undefined) {
      throw new Error(`${page}: "${line}" is not "npm install PACKAGES # PURPOSE"`)
    }
    return { purpose, words: command.split(/ +/) }
  })
}

/** The code of the README's `ts` block that is number `index`, from 0. */
export function typescriptBlock(page: string, index: number): string {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)]
  const code = blocks[index]?.[1]
  if (code === undefined) throw new Error(`${page} has no ts block number ${index}`)
  return code
}
