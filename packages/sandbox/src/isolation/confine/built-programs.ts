// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = 'f25d9877b548bbf2df9d921a2a71b584e7094a86c3e99ca346212e48aab474db'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: 'edb16792eb089c218843156b262286e8aa986ef48ff8c63cd363a8eca9a1a009',
  arm64: 'e08d377caa86ceb9b504614281cfa0f6dd33802f0f8e0b3c387eddd0f29ae4a9',
}
