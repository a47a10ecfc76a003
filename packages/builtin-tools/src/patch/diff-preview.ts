/** A difference that takes longer to find is shown as the new content. */
const longestDiffMs = 1000

/** What an approver sees of a change of a file: a unified diff, or the new content when the diff takes too long. */
export async function diffPreview(
  path: string,
  before: string,
  after: string,
): Promise<{ readonly patch: string }> {
  const { createTwoFilesPatch } = await import('diff')
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, {
    timeout: longestDiffMs,
  })
  // Without the two lines above the headers.
  return { patch: patch?.slice(patch.indexOf('---')) ?? `+++ ${path}\n${after}` }
}
