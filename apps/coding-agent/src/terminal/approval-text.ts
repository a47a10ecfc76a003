import { createSandboxFiles } from '@smithers/sandbox'
import { createTwoFilesPatch } from 'diff'
import { coloredPatch } from './colored-patch.ts'
import { printable } from './printable.ts'
import type { Colors } from './terminal.ts'

/** What a call would do, for whoever decides about it: the difference for `edit` and `write`, else the arguments. */
export async function approvalText(
  toolName: string,
  args: unknown,
  rootDir: string,
  colors: Colors,
): Promise<string> {
  const { path, patch, content } = args as Partial<Record<string, string>>
  if (toolName === 'edit' && patch !== undefined) return coloredPatch(patch.trimEnd(), colors)
  if (toolName === 'write' && path !== undefined && content !== undefined) {
    const before = await currentText(rootDir, path)
    const after = createTwoFilesPatch(path, path, before, content)
    // Without the line above the headers.
    return coloredPatch(after.slice(after.indexOf('\n') + 1).trimEnd(), colors)
  }
  return printable(JSON.stringify(args, null, 2))
}

async function currentText(rootDir: string, path: string): Promise<string> {
  const files = createSandboxFiles({ rootDir })
  try {
    return await files.readText(path)
  } catch {
    // There is none yet, or it is no text: everything is new.
    return ''
  } finally {
    files.close()
  }
}
