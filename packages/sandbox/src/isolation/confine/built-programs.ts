// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = '01df6dd944deff6c5220f84cf0c36b17e5745a28dabd5ce7bb1d44fd2108a1ae'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: '666d69f953893e7172efff0ac34a1ced50ce96d847f177ce1b858e4d8f042954',
  arm64: 'cf59b3a54860a2f89d13da21f8f0e2ea1db91d213edd776c59c29e8582ab4650',
}
