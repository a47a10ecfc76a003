// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = '8a09b20d346d302c3d67df4cecf5dc518b537fb1287b45749161aea3fc5c5074'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: '5fcf5de366484ec044a0d1e904c21451bcc3ac58eb6ed0b0f3d5dd8d01ebae67',
  arm64: '49fe2df183aa30744c515a3236bbe8093a55e3774eebf8066458ddab3b7b293a',
}
