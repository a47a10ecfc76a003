// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = '141a5fe1e1f4cb39e560c78653c0764e88fa2bc592cf4bff54bd37379922fa89'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: 'b25f2e64dfbf063b549898a476696094e4528e61ae1e60f5f0486dee3f1c4198',
  arm64: 'e5dcc98db3c0908279f0a5c7f49a580067f68238a7a741528c0cbbf82b556f6c',
}
