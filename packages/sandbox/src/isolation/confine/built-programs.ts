// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = '6c3d6a2f4f51d9f7ac8a85d32cace4918aa8b3b497899c6bb667885cb66464df'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: 'afda52549e4eb55601988cea65248638302bb1044a3cb941da28021fd033ce04',
  arm64: '9bb9c1b0c756ec4e9ecac7d218a32d526c80210480da8ff769be71586966dab9',
}
