import { say, type ViewerContext } from '../model/viewer-context.ts'

/** Puts a text on the clipboard and says so. */
export async function copyText(context: ViewerContext, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(context, `Copied ${what}.`)
  } catch {
    say(context, 'The browser did not allow copying. Select the text and copy it yourself.')
  }
}

/** Saves data as a file of the reader's. */
export function saveBlob(blob: Blob, fileName: string): void {
  const address = URL.createObjectURL(blob)
  const anchor = document.createElement('a')
  anchor.href = address
  anchor.download = fileName
  anchor.click()
  // The browser has the data by the next turn.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
