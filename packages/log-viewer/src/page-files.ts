import { readFileSync } from 'node:fs'
import type { PageFiles } from './api/document.ts'

let files: PageFiles | undefined

/**
 * The script and the style sheet of the page, read once.
 *
 * @throws Error when the package was not built.
 */
export function pageFiles(): PageFiles {
  files ??= { script: read('page.js'), style: read('page.css') }
  return files
}

function read(name: string): string {
  // Beside the bundle once it is built, and above the sources in a working copy.
  for (const folder of ['./page/', '../dist/page/']) {
    try {
      return readFileSync(new URL(folder + name, import.meta.url), 'utf8')
    } catch {
      // Try the next one.
    }
  }
  throw new Error(
    `The page of @smithers/log-viewer was not built: ${name} is missing. Run its build.`,
  )
}

/** The document that the server answers `/` with. It holds no data. */
export const pageDocument: string = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>smithers view</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/page.css">
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. In a terminal, use: smithers view --text</noscript>
<script type="module" src="/page.js"></script>
</body>
</html>
`

export const pageIcon: string = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="1" y="2" width="9" height="3" rx="1" fill="#4b7bec"/><rect x="4" y="7" width="11" height="3" rx="1" fill="#20a464"/><rect x="2" y="12" width="6" height="3" rx="1" fill="#d98200"/></svg>
`
