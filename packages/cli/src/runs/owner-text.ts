/** The process of an owner id, `host/namespace:pid:start`, as a person can find it. */
export function ownerText(ownerId: string | null): string {
  const { host, pid } = /^(?<host>[^/]*)[^:]*:(?<pid>\d+):\d+$/.exec(ownerId ?? '')?.groups ?? {}
  return pid === undefined ? (ownerId ?? 'unknown') : `${pid} on ${host}`
}
