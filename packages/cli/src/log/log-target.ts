/** True for a log in PostgreSQL, which is given as its connection string. */
export function isPostgres(target: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(target)
}

/**
 * A log's path or address as it is printed. Of a connection string only the user, the host, the database and the schema
 * are left: its password and its other parameters, which may hold one, are not printed.
 */
export function shownLog(target: string): string {
  if (!isPostgres(target)) return target
  // One that cannot be read, such as a password with a "#", must not be printed for that.
  if (!URL.canParse(target)) return 'postgres://…'
  const { protocol, username, host, pathname, searchParams } = new URL(target)
  const schema = searchParams.get('schema')
  const parameters = schema === null ? '' : `?schema=${encodeURIComponent(schema)}`
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}${parameters}`
}

/** A text without the secrets of a connection string. */
export function withoutSecrets(text: string, target: string): string {
  return [target, ...secretsOf(target)]
    .filter((secret) => secret !== '')
    .reduce((shown, secret) => shown.replaceAll(secret, '…'), text)
}

function secretsOf(target: string): string[] {
  if (!URL.canParse(target)) return [target.slice(target.indexOf('//') + 2)]
  const { password, searchParams } = new URL(target)
  const given = [password, ...['password', 'sslpassword'].map((name) => searchParams.get(name))]
  return given.flatMap((secret) => (secret ? [secret, decoded(secret)] : []))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
