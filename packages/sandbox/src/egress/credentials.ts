import { randomBytes, timingSafeEqual } from 'node:crypto'

/** The user name and token by which the connections of one command name it. */
export interface Credentials {
  readonly user: string
  /** 128 random bits in hexadecimal. */
  readonly token: string
}

let commands = 0

export function newCredentials(): Credentials {
  commands += 1
  return { user: `command-${commands}`, token: randomBytes(16).toString('hex') }
}

/** Whether credentials are the command's own, in a time that does not depend on where they differ. */
export function areCredentials(own: Credentials, user: string, token: string): boolean {
  const expected = Buffer.from(`${own.user}:${own.token}`)
  const given = Buffer.from(`${user}:${token}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** What the header `Proxy-Authorization` says of its sender. */
export function checkAuthorization(
  own: Credentials,
  header: string | undefined,
): 'own' | 'missing' | 'wrong' {
  if (header === undefined) return 'missing'
  const encoded = /^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1] ?? ''
  const [, user = '', token = ''] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('latin1')) ?? []
  return areCredentials(own, user, token) ? 'own' : 'wrong'
}
