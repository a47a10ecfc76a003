import { createHash } from 'node:crypto'

/** An object of a git repository. */
export interface GitObject {
  readonly type: string
  readonly bytes: Buffer
}

/** The name that git gives to an object. `length` is that of the repository's other names. */
export function objectName({ type, bytes }: GitObject, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1')
  return hash.update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
}

/** Reads objects through `git cat-file --batch`: requests go out on `input`, answers come in through `receive`. */
export class ObjectReader {
  readonly #waiting: { name: string; resolve: (object: GitObject | undefined) => void }[] = []
  readonly #outgoing: string[] = []
  #wake: (() => void) | undefined
  #isClosed = false
  #received: Buffer = Buffer.alloc(0)

  /** `undefined` when the object is missing, or is not what its name says. */
  read(name: string): Promise<GitObject | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      this.#waiting.push({ name, resolve })
      this.#outgoing.push(`${name}\n`)
      this.#wake?.()
    })
  }

  /** What to write to git. */
  async *input(): AsyncGenerator<string, void, void> {
    while (!this.#isClosed) {
      const lines = this.#outgoing.splice(0).join('')
      if (lines !== '') yield lines
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    while (this.#takeAnswer()) continue
  }

  /** Ends the input; requests without an answer get `undefined`. */
  close(): void {
    this.#isClosed = true
    this.#wake?.()
    for (const { resolve } of this.#waiting.splice(0)) resolve(undefined)
  }

  #takeAnswer(): boolean {
    const end = this.#received.indexOf('\n')
    if (end === -1) return false
    const [, type, size] = this.#received.toString('latin1', 0, end).split(' ')
    if (type === undefined || size === undefined) {
      this.#received = this.#received.subarray(end + 1)
      this.#waiting.shift()?.resolve(undefined)
      return true
    }
    const last = end + 1 + Number(size)
    if (this.#received.length <= last) return false
    const object = { type, bytes: this.#received.subarray(end + 1, last) }
    this.#received = this.#received.subarray(last + 1)
    const request = this.#waiting.shift()
    const isGenuine =
      request !== undefined && objectName(object, request.name.length) === request.name
    request?.resolve(isGenuine ? object : undefined)
    return true
  }
}

/** Tree and parents of a commit. */
export function readCommit({
  type,
  bytes,
}: GitObject): { tree: string; parents: string[] } | undefined {
  if (type !== 'commit') return undefined
  const [header = ''] = bytes.toString('latin1').split('\n\n', 1)
  const tree = /^tree ([0-9a-f]+)$/mu.exec(header)?.[1]
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gmu)].map(([, parent]) => parent ?? '')
  return tree === undefined ? undefined : { tree, parents }
}

/** The entry of a name in a tree. */
export function findInTree(
  { type, bytes }: GitObject,
  name: string,
  nameLength: number,
): { mode: string; name: string } | undefined {
  if (type !== 'tree') return undefined
  const wanted = Buffer.from(name)
  const hashBytes = nameLength / 2
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const end = bytes.indexOf(0, space)
    if (space === -1 || end === -1) return undefined
    if (bytes.subarray(space + 1, end).equals(wanted)) {
      const object = bytes.toString('hex', end + 1, end + 1 + hashBytes)
      return { mode: bytes.toString('latin1', at, space), name: object }
    }
    at = end + 1 + hashBytes
  }
  return undefined
}
