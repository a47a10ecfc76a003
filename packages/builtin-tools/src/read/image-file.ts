import type { SandboxFiles } from '@smithers/sandbox'
import { SmithersError } from '@smithers/tool-core'

/** Providers accept no larger images. */
const maxImageBytes = 5 * 1024 * 1024

const mediaTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
}

function mediaTypeOf(path: string): string | undefined {
  const ending = /\.([a-z]+)$/iu.exec(path)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(mediaTypes, ending) ? mediaTypes[ending] : undefined
}

/** Whether the name says that a file is an image which models can see. */
export function isImagePath(path: string): boolean {
  return mediaTypeOf(path) !== undefined
}

/**
 * Reads an image as a data URL. Undefined when the contents are not those of an image.
 *
 * @throws SmithersError `TOOL_FILE_TOO_LARGE` over 5 MiB
 */
export async function readImage(files: SandboxFiles, path: string): Promise<string | undefined> {
  const { sizeBytes } = await files.stat(path)
  if (sizeBytes > maxImageBytes) throw tooLarge(path, sizeBytes)
  const bytes = await files.read(path, { maxBytes: maxImageBytes })
  const mediaType = signatureOf(bytes)
  return mediaType === undefined
    ? undefined
    : `data:${mediaType};base64,${bytes.toString('base64')}`
}

/** By the contents, since names can lie, and a provider refuses a whole request over a wrong one. */
function signatureOf(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12)
  if (head.startsWith('\u0089PNG\r\n\u001A\n')) return mediaTypes['png']
  if (head.startsWith('\u00FF\u00D8\u00FF')) return mediaTypes['jpg']
  if (/^GIF8[79]a/u.test(head)) return mediaTypes['gif']
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? mediaTypes['webp'] : undefined
}

/** The media type and the data of a result of {@link readImage}. Undefined for any other text. */
export function imageOf(
  output: string,
): { readonly mediaType: string; readonly data: string } | undefined {
  const head = /^data:(image\/\w+);base64,/u.exec(output.slice(0, 40))
  if (head === null) return undefined
  const data = output.slice(head[0].length)
  if (!/^[A-Za-z\d+/]+=*$/u.test(data)) return undefined
  const [, mediaType = ''] = head
  // A text file may hold a data URL too. 16 characters are the 12 bytes of the signature.
  const isImage = signatureOf(Buffer.from(data.slice(0, 16), 'base64')) === mediaType
  return isImage ? { mediaType, data } : undefined
}

function tooLarge(path: string, bytes: number): SmithersError {
  return new SmithersError(
    'TOOL_FILE_TOO_LARGE',
    `File too large: the image ${JSON.stringify(path)} has ${bytes} bytes, the limit is ${maxImageBytes}. Make a smaller one with a command.`,
    { details: { path, bytes, maxBytes: maxImageBytes, isImage: true }, effect: 'none' },
  )
}
