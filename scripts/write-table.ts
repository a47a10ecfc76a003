import { readFileSync, writeFileSync } from 'node:fs'

/** Replaces what a page has between `<!-- NAME: begin -->` and `<!-- NAME: end -->`. */
export function writeTable(page: string, name: string, table: string): void {
  const begin = `<!-- ${name}: begin -->`
  const end = `<!-- ${name}: end -->`
  const [before, rest = ''] = readFileSync(page, 'utf8').split(begin)
  const after = rest.split(end)[1]
  if (before === undefined || after === undefined)
    throw new Error(`${page} lacks ${begin} … ${end}`)
  writeFileSync(page, `${before}${begin}\n\n${table}\n\n${end}${after}`)
}
