/** How a person finds the process that an owner id, `host/namespace:pid:start`, names. */
export function ownerText(ownerId: string | null): string {
  const { host, pid } = /^(?<host>[^/]*)[^:]*:(?<pid>\d+):\d+$/.exec(ownerId ?? '')?.groups ?? {}
  return pid === undefined ? (ownerId ?? 'unknown') : `${pid} on ${host}`
}
