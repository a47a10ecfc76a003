import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root: URL = new URL('../', import.meta.url)
const bundled = ['preact', 'diff']

/** Where the page is built: what the package ships, and what the sources read in a working copy. */
export const pageFolder: string = fileURLToPath(new URL('dist/page', root))

/** Bundles the page into `page.js` and `page.css`, with the licences of what the bundle holds beside them. */
export async function buildPage(folder: string = pageFolder): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [
      { in: 'src/page/main.tsx', out: 'page' },
      { in: 'src/page/styles/page.css', out: 'page' },
    ],
    absWorkingDir: fileURLToPath(root),
    outdir: folder,
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: '/*! Licences of the bundled libraries: LICENSES.txt */' },
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  })
  mkdirSync(folder, { recursive: true })
  for (const { path, text } of outputFiles) replaceFile(folder, basename(path), text)
  replaceFile(folder, 'LICENSES.txt', bundled.map(licenceOf).join('\n\n'))
}

/** In one step: another process may be reading it. */
function replaceFile(folder: string, name: string, text: string): void {
  const unfinished = join(folder, `.${name}.${process.pid}`)
  writeFileSync(unfinished, text)
  renameSync(unfinished, join(folder, name))
}

function licenceOf(name: string): string {
  const text = readFileSync(new URL(`node_modules/${name}/LICENSE`, root), 'utf8')
  return `${name}\n${'-'.repeat(name.length)}\n\n${text}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildPage()
