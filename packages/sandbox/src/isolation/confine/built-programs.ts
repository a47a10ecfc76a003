// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = '7192a859d5461559220695c26d178327595d3a971c4512d24d3b6f14298a0f17'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: '20bda1eef4b12884f88e092bbb4202e5bd594ff5788703eac115a15af006bb00',
  arm64: 'dbd32456f57044dc7a6291f04d3c66c991185362c76cb0b76fd97b241a99088c',
}
