import { createSandboxFiles } from '@smithers/sandbox'
import { createTwoFilesPatch } from 'diff'
import { coloredPatch } from '@smithers/cli/src/terminal/colored-patch.ts'
import { printable } from '@smithers/cli/src/terminal/printable.ts'
import type { Colors } from '@smithers/cli/src/terminal/terminal.ts'

/** What a call would do, for its approver: the diff for `edit` and `write`, otherwise the arguments. */
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
    // The file does not exist or is not text, so the whole content is new.
    return ''
  } finally {
    files.close()
  }
}
