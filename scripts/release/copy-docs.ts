/**
 * Copies the pages that a package's README links to into the package's `docs/`, so that a reader of `node_modules` needs
 * no network. Each package runs it as its `prepack`, in its own directory.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { shippedPages } from './shipped-pages.ts'
import { withAbsoluteLinks } from './readme-links.ts'

const root = join(import.meta.dirname, '../..')
const directory = relative(root, process.cwd())
process.chdir(root)

const pages = shippedPages(directory)
rmSync(join(directory, 'docs'), { recursive: true, force: true })
for (const [path, shipped] of pages) {
  const target = join(directory, shipped)
  mkdirSync(dirname(target), { recursive: true })
  // A link to a page that is shipped too leads to its copy, any other to the repository.
  const text = withAbsoluteLinks(readFileSync(path, 'utf8'), dirname(path), (linked, fragment) => {
    const other = pages.get(linked)
    return other === undefined ? undefined : relative(dirname(shipped), other) + fragment
  })
  writeFileSync(target, text)
}
