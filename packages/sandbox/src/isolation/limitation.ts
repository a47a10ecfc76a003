/** Something that does not work under a backend, though nothing is less safe for it. */
export interface Limitation {
  readonly code:
    | 'NO_LOOPBACK'
    | 'NO_TERMINALS'
    | 'NO_SHARED_MEMORY'
    | 'NO_PRIVATE_TMP'
    | 'NO_TEMPORARY_LIMIT'
    | 'NO_DATAGRAM_SOCKETS'
    | 'NO_UNIX_SOCKETS'
    | 'NO_MOVES_BETWEEN_DIRECTORIES'
  readonly why: string
  readonly fix: string
}
