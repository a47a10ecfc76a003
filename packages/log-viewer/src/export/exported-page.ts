import { createHash } from 'node:crypto'
import { pageFiles } from '../page-files.ts'

/**
 * The page with a run in it, as one file that needs no server. Its policy allows the one script by its hash.
 *
 * @param run An `ExportedRun` as JSON, in parts.
 */
export async function* exportedPage(run: AsyncIterable<string>): AsyncGenerator<string> {
  const { script, style } = pageFiles()
  const inScript = withoutEndOf('script', script)
  const inStyle = withoutEndOf('style', style)
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(inScript)}'`,
    `style-src '${hashOf(inStyle)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>smithers view</title>
<style>${inStyle}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="smithers-run">`
  for await (const part of run) yield inlined(part)
  yield `</script>
<script type="module">${inScript}</script>
</body>
</html>
`
}

/** JSON that no HTML parser takes for markup. */
function inlined(json: string): string {
  return json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Our own code, which must not end its element either: a text in it may look like an end. */
function withoutEndOf(element: 'script' | 'style', text: string): string {
  const ends = element === 'script' ? /<(?=\/script|script|!--)/gi : /<(?=\/style)/gi
  return text.replaceAll(ends, element === 'script' ? String.raw`\x3c` : String.raw`\3c `)
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
