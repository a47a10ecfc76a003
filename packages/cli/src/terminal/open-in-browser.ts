import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Opens an address that holds a secret in the user's browser. Every user of the machine can read the arguments of a process,
 * so the system's opener gets a file that leads to the address and that the user alone can read.
 *
 * @param failed Is told why the opener did not start or did not succeed.
 * @returns a function that removes the file; it is removed after a minute, too.
 */
export function openInBrowser(url: string, failed: (reason: string) => void): () => void {
  const own = privateFolder(process.env['XDG_RUNTIME_DIR'])
  const remove = (): void => rmSync(own, { recursive: true, force: true })
  try {
    const page = join(own, 'open.html')
    writeFileSync(page, redirectTo(url), { mode: 0o600, flag: 'wx' })
    start(page, failed)
  } catch (error) {
    remove()
    throw error
  }
  setTimeout(remove, longestUseMs).unref()
  return remove
}

/** A browser has read the file by then. */
const longestUseMs = 60_000

const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'open',
  win32: 'explorer.exe',
}

function start(page: string, failed: (reason: string) => void): void {
  const opener = openers[process.platform] ?? 'xdg-open'
  // Detached: Ctrl-C in this terminal must not end the browser.
  const child = spawn(opener, [page], { stdio: 'ignore', detached: true })
  child.once('error', ({ message }) => failed(message))
  child.once('exit', (code) => {
    // explorer.exe ends with 1 whatever it did.
    if (code !== 0 && opener !== 'explorer.exe')
      failed(`${opener} ended with ${code ?? 'a signal'}`)
  })
  child.unref()
}

/** `mkdtemp` makes it for this user alone (mode 0700). */
function privateFolder(parent: string | undefined): string {
  if (parent) {
    try {
      return mkdtempSync(join(parent, 'smithers-view-'))
    } catch {
      // The runtime directory of a session that has ended.
    }
  }
  return mkdtempSync(join(tmpdir(), 'smithers-view-'))
}

function redirectTo(url: string): string {
  const address = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>smithers view</title>
<a href="${address}">Open the page</a>
`
}
