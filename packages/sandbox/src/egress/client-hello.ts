/** What the first bytes of a tunnel are. `'more'`: too few to say. */
export type FirstBytes =
  | { readonly kind: 'more' }
  | { readonly kind: 'tls'; readonly serverName: string | null }
  | { readonly kind: 'other' }
  /** Begins like TLS, and is not what any client sends. */
  | { readonly kind: 'malformed' }

/** Of a greeting with all its extensions; those of real clients have at most a few thousand bytes. */
const maxHelloBytes = 65_536
const maxRecords = 64
const [handshakeRecord, clientHello, serverNameExtension, hostName] = [22, 1, 0, 0] as const

/**
 * Reads the server name that a TLS client asks for in its greeting.
 *
 * *Guarantees*: a greeting that names two servers, or whose lengths disagree, is malformed.
 * *Does not protect against* names inside the encryption: HTTP hosts over a shared front, and encrypted greetings.
 */
export function readFirstBytes(bytes: Uint8Array): FirstBytes {
  if (bytes.length === 0) return { kind: 'more' }
  if (bytes[0] !== handshakeRecord) return { kind: 'other' }
  if (bytes.length > 1 && bytes[1] !== 3) return { kind: 'other' }
  const hello = joinRecords(bytes)
  if (hello === 'more')
    return bytes.length > maxHelloBytes ? { kind: 'malformed' } : { kind: 'more' }
  if (hello === 'malformed') return { kind: 'malformed' }
  const serverName = serverNameOf(hello)
  return serverName === undefined ? { kind: 'malformed' } : { kind: 'tls', serverName }
}

/** A greeting may be cut into several records. */
function joinRecords(bytes: Uint8Array): Uint8Array | 'more' | 'malformed' {
  const parts: Uint8Array[] = []
  let [at, length] = [0, 0]
  while (parts.length < maxRecords) {
    const head = bytes.subarray(at, at + 5)
    if (head.length < 5) return 'more'
    const size = ((head[3] ?? 0) << 8) | (head[4] ?? 0)
    if (head[0] !== handshakeRecord || head[1] !== 3 || size === 0) return 'malformed'
    const part = bytes.subarray(at + 5, at + 5 + size)
    parts.push(part)
    length += part.length
    const [first, high = 0, middle = 0, low = 0] = Buffer.concat(parts).subarray(0, 4)
    if (first !== undefined && first !== clientHello) return 'malformed'
    if (length >= 4) {
      const wanted = 4 + ((high << 16) | (middle << 8) | low)
      if (wanted > maxHelloBytes) return 'malformed'
      if (length >= wanted) return Buffer.concat(parts).subarray(4, wanted)
    }
    if (part.length < size) return 'more'
    at += 5 + size
  }
  return 'malformed'
}

/** `null`: it names no server. `undefined`: it is malformed. */
function serverNameOf(hello: Uint8Array): string | null | undefined {
  const reader = new Reader(hello)
  // Version and random, session, cipher suites, compression.
  reader.skip(34)
  reader.skip(reader.number(1))
  reader.skip(reader.number(2))
  reader.skip(reader.number(1))
  if (!reader.failed && reader.isAtEnd) return null
  const extensions = new Reader(reader.bytes(reader.number(2)))
  if (reader.failed || !reader.isAtEnd) return undefined
  let found: string | null = null
  while (!extensions.isAtEnd) {
    const type = extensions.number(2)
    const contents = extensions.bytes(extensions.number(2))
    if (extensions.failed) return undefined
    if (type !== serverNameExtension) continue
    const name = nameIn(contents)
    if (name === undefined || found !== null) return undefined
    found = name
  }
  return found
}

/** The list has one entry: servers disagree about which of two would count. */
function nameIn(contents: Uint8Array): string | undefined {
  const list = new Reader(contents)
  const length = list.number(2)
  const kind = list.number(1)
  const name = list.bytes(list.number(2))
  const isWhole = !list.failed && list.isAtEnd && length === contents.length - 2
  if (!isWhole || kind !== hostName || name.length === 0) return undefined
  const text = Buffer.from(name).toString('latin1')
  return /^[\x21-\x7e]+$/.test(text) ? text : undefined
}

/** Reads numbers and bytes one after the other; beyond the end it fails and gives nothing. */
class Reader {
  failed = false
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.failed || this.#at === this.#bytes.length
  }

  number(size: number): number {
    return this.bytes(size).reduce((value, byte) => value * 256 + byte, 0)
  }

  bytes(size: number): Uint8Array {
    if (this.#bytes.length - this.#at < size) this.failed = true
    if (this.failed) return new Uint8Array()
    this.#at += size
    return this.#bytes.subarray(this.#at - size, this.#at)
  }

  skip(size: number): void {
    this.bytes(size)
  }
}
