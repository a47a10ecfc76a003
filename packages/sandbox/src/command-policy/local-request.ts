const localAddress =
  /^(?:[a-z][a-z\d+.-]*:\/\/)?(?:[^/@\s\\]*@)?(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0|\[::1?\])(?::(?:\d+|\$\w+|\$\{\w+\}))?(?:[/?#]|$)/iu

/** Options that take a value which is no address: the rest of the argument, or the next one. */
const values: ReadonlyMap<string, { readonly short: string; readonly long: ReadonlySet<string> }> =
  new Map([
    [
      'curl',
      {
        short: 'AbcCdDeEFhHmorTuUwXyYz',
        long: new Set(
          [
            ['user-agent', 'cookie', 'cookie-jar', 'continue-at', 'data', 'data-ascii'],
            ['data-binary', 'data-raw', 'data-urlencode', 'json', 'dump-header', 'referer'],
            ['form', 'form-string', 'header', 'max-time', 'connect-timeout', 'output'],
            ['output-dir', 'range', 'request', 'user', 'upload-file', 'write-out', 'retry'],
            ['retry-delay', 'retry-max-time', 'max-redirs', 'cacert', 'cert', 'key', 'stderr'],
            ['unix-socket', 'limit-rate', 'max-filesize', 'trace', 'trace-ascii'],
          ].flat(),
        ),
      },
    ],
    [
      'wget',
      {
        short: 'aADlIoOPQRtTUwX',
        long: new Set(
          [
            ['output-document', 'output-file', 'append-output', 'directory-prefix', 'tries'],
            ['timeout', 'wait', 'header', 'user-agent', 'post-data', 'post-file', 'method'],
            ['body-data', 'body-file', 'user', 'password', 'level', 'quota', 'referer'],
          ].flat(),
        ),
      },
    ],
  ])

/** Options whose value is an address, or a file with addresses. */
const addressOptions: ReadonlyMap<string, string> = new Map([
  ['curl', 'xK'],
  ['wget', 'ieB'],
])

/**
 * Whether a client asks a server of this machine alone, such as `curl http://localhost:3000`, or none: `curl --version`.
 * Every argument that is neither an option nor the value of one has to name such a server. An option that is not known
 * here is taken to have no value, so that an address never counts as one.
 */
export function isLocalRequest(client: string, args: readonly string[]): boolean {
  return operandsOf(client, args)?.every((operand) => localAddress.test(operand)) ?? false
}

/** Whether a client names no server at all. */
export function asksNoServer(client: string, args: readonly string[]): boolean {
  return operandsOf(client, args)?.length === 0
}

/** The addresses that a client is given; undefined for a program that is not known here. */
function operandsOf(client: string, args: readonly string[]): readonly string[] | undefined {
  const known = values.get(client)
  if (known === undefined) return undefined
  const operands: string[] = []
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index]!
    if (argument === '--') {
      operands.push(...args.slice(index + 1))
      break
    }
    if (argument.startsWith('--')) {
      const [name = '', value] = argument.slice(2).split(/=(.*)/su)
      if (known.long.has(name)) index += value === undefined ? 1 : 0
      else if (value !== undefined) operands.push(value)
    } else if (argument.startsWith('-') && argument.length > 1) {
      const read = readLetters(argument.slice(1), known.short, addressOptions.get(client) ?? '')
      if (read.address !== null) operands.push(read.address)
      index += read.takesNext ? 1 : 0
    } else operands.push(argument)
  }
  return operands
}

function readLetters(
  letters: string,
  withValue: string,
  withAddress: string,
): { readonly takesNext: boolean; readonly address: string | null } {
  for (const [position, letter] of letters.split('').entries()) {
    const rest = letters.slice(position + 1)
    // Without a rest, the next argument counts as an operand.
    if (withAddress.includes(letter))
      return { takesNext: false, address: rest === '' ? null : rest }
    if (withValue.includes(letter)) return { takesNext: rest === '', address: null }
  }
  return { takesNext: false, address: null }
}
