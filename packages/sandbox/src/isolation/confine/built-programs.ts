// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = '7e48c2b6d4554b563d26c8d17ca9c2e3b8129069efa8299112d68d53d8f1cb7b'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: 'e62ee924dc0ec38f3d6b85ae67b8d64a9747af6903ef6cc4497bfe00552b6197',
  arm64: '5197a87f82637f6ea0b3640eeea1145caaca80b61c078c82d01b45f88f403d0e',
}
