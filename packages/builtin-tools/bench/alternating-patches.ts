import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'

/** Writes a file and returns patches there and back, so that every round has something to change. */
export function alternatingPatches(root: string, path: string, hunks: number): readonly string[] {
  const [a, b] = [version(hunks, 'A'), version(hunks, 'B')]
  writeFileSync(join(root, path), a)
  return [createTwoFilesPatch(path, path, a, b), createTwoFilesPatch(path, path, b, a)]
}

/** 2 000 lines of code-like text; a version differs from the other in `hunks` far places. */
function version(hunks: number, letter: string): string {
  const lines = Array.from(
    { length: 2000 },
    (_, index) => `  const value${index} = compute(${index})`,
  )
  for (let hunk = 0; hunk < hunks; hunk += 1) {
    lines[Math.floor((hunk + 0.5) * (2000 / hunks))] = `  const changed${letter} = ${hunk}`
  }
  return `${lines.join('\n')}\n`
}
