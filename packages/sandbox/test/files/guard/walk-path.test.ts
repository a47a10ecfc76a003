import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandboxFiles, SandboxError } from '@smithers/sandbox'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDescriptors } from '../../fixtures/workspace.ts'

type Node = 'file' | { readonly link: string } | Map<string, Node>

/**
 * What a path means to a kernel for which the root is the only place there is: the path without links, or why there is
 * none. Written apart from the walk that it is compared with, on a tree in memory.
 */
function model(tree: Map<string, Node>, rootDir: string, path: string): string {
  const at = (names: readonly string[]) =>
    names.reduce<Node | undefined>(
      (node, name) => (node instanceof Map ? node.get(name) : undefined),
      tree,
    )
  let here: string[] = []
  let rest = path
  let isFresh = true
  for (let links = 0; ;) {
    // Only what was given and what a link holds can be absolute; "b//c" continues below b.
    if (isFresh && rest.startsWith('/')) {
      const top = rootDir.split('/').filter(Boolean)
      const names = rest.split('/').filter((name) => name !== '' && name !== '.')
      if (!top.every((name, index) => names[index] === name)) return 'TOOL_PATH_ESCAPE'
      const tail = /\/\.?$/u.test(rest) ? ['.'] : []
      here = []
      rest = [...names.slice(top.length), ...tail].join('/') || '.'
    }
    isFresh = false
    const slash = rest.indexOf('/')
    const name = slash === -1 ? rest : rest.slice(0, slash)
    const after = slash === -1 ? undefined : rest.slice(slash + 1)
    if (name === '..') {
      if (here.length === 0) return 'TOOL_PATH_ESCAPE'
      here = here.slice(0, -1)
    } else if (name !== '' && name !== '.') {
      const node = at([...here, name])
      if (node === undefined) return 'missing'
      if (typeof node === 'object' && 'link' in node) {
        links += 1
        if (links > 40) return 'TOOL_PATH_INVALID'
        rest = after === undefined ? node.link : `${node.link}/${after}`
        isFresh = true
        continue
      }
      if (node === 'file' && after !== undefined) return 'missing'
      here = [...here, name]
    }
    if (after === undefined) return `/${here.join('/')}`
    rest = after
  }
}

const name = fc.constantFrom('a', 'b', 'c')
const step = fc.oneof({ weight: 6, arbitrary: name }, fc.constantFrom('..', '.', ''))
const relative = fc
  .array(step, { minLength: 1, maxLength: 6 })
  .map((names) => names.join('/') || '.')

/** Paths relative, absolute under the root, beside it and elsewhere; `ROOT` stands for the root. */
const anyPath = fc.oneof(
  { weight: 6, arbitrary: relative.map((path) => (path.startsWith('/') ? `.${path}` : path)) },
  { weight: 2, arbitrary: relative.map((path) => `ROOT/${path}`) },
  fc.constantFrom('/', '/etc', 'ROOT', 'ROOT/', 'ROOTa/a', 'ROOT/../', '//ROOT//a'),
)

const entries = fc.array(
  fc.record({
    parent: fc.nat(20),
    name,
    kind: fc.oneof(
      { weight: 3, arbitrary: fc.constant('directory' as const) },
      { weight: 2, arbitrary: fc.constant('file' as const) },
      { weight: 4, arbitrary: anyPath },
    ),
  }),
  { maxLength: 14 },
)

describe('the walk', () => {
  let base: string
  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'walk-')))
  })
  afterAll(() => {
    rmSync(base, { recursive: true, force: true })
  })

  it.each(['beneath', 'checked'] as const)(
    'leads where a confined kernel would, in random trees with random links (%s)',
    async (guard) => {
      const before = openDescriptors()
      let run = 0
      let inside = 0
      await fc.assert(
        fc.asyncProperty(
          entries,
          fc.array(anyPath, { minLength: 8, maxLength: 16 }),
          async (list, paths) => {
            run += 1
            const root = join(base, `${guard}-${run}`)
            mkdirSync(root)
            const spell = (path: string) => path.replace('ROOT', root)
            const tree = build(root, list, spell)
            const files = createSandboxFiles({ rootDir: root, guard })
            try {
              for (const path of paths.map(spell)) {
                const expected = model(tree, root, path)
                const actual = await outcome(() => files.stat(path), root)
                expect(actual, path).toBe(expected)
                if (!expected.startsWith('/')) continue
                inside += 1
                // The kernel agrees about everything that we let through.
                expect(realpathSync.native(path.startsWith('/') ? path : `${root}/${path}`)).toBe(
                  expected === '/' ? root : root + expected,
                )
              }
            } finally {
              files.close()
              rmSync(root, { recursive: true, force: true })
            }
          },
        ),
        { numRuns: 400 },
      )
      expect(inside).toBeGreaterThan(100)
      expect(openDescriptors()).toBe(before)
    },
  )
})

function build(
  root: string,
  list: readonly { parent: number; name: string; kind: string }[],
  spell: (path: string) => string,
): Map<string, Node> {
  const tree = new Map<string, Node>()
  const directories: { path: string; node: Map<string, Node> }[] = [{ path: root, node: tree }]
  for (const { parent, name: child, kind } of list) {
    const directory = directories[parent % directories.length]
    if (directory === undefined || directory.node.has(child)) continue
    const path = join(directory.path, child)
    if (kind === 'directory') {
      mkdirSync(path)
      const node = new Map<string, Node>()
      directory.node.set(child, node)
      directories.push({ path, node })
    } else if (kind === 'file') {
      writeFileSync(path, '')
      directory.node.set(child, 'file')
    } else {
      symlinkSync(spell(kind), path)
      directory.node.set(child, { link: spell(kind) })
    }
  }
  return tree
}

async function outcome(look: () => Promise<{ path: string }>, root: string): Promise<string> {
  try {
    const { path } = await look()
    expect(existsSync(join(root, path))).toBe(true)
    return `/${path}`
  } catch (error) {
    if (!SandboxError.isInstance(error)) throw error
    const isMissing = error.code === 'TOOL_FILE_NOT_FOUND' || error.details['errno'] === 'ENOTDIR'
    return isMissing ? 'missing' : error.code
  }
}
