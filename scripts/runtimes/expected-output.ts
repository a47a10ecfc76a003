import type { Workshop } from './workshop.ts'

const references = new WeakMap<Workshop, Map<string, Promise<string>>>()

/**
 * What a program of the plain app prints on Node 24, which every other runtime and bundle must print too: the isolation
 * of this machine among it, so that none of them confines commands less.
 */
function expectedOutput(workshop: Workshop, program: string): Promise<string> {
  let programs = references.get(workshop)
  if (programs === undefined) references.set(workshop, (programs = new Map()))
  let expected = programs.get(program)
  if (expected === undefined) {
    expected = workshop.run({ app: 'plain', command: ['node', program] })
    programs.set(program, expected)
  }
  return expected
}

/**
 * Compares what an app printed with the plain app's output.
 *
 * @throws Error with both when they differ
 */
export async function assertExpected(
  workshop: Workshop,
  program: string,
  printed: string,
): Promise<void> {
  const expected = await expectedOutput(workshop, program)
  if (printed.trim() === expected.trim()) return
  throw new Error(`expected\n${expected}\nand got\n${printed}`)
}
