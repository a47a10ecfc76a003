// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = 'd32fa3e7f715b0db204df97ec2567f710a296c24f21d3a83ccd486a3aa5533c1'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: '9aef37ea57fbde5e74d53a28986b3b1356fb5638d4f2186280d4152ac3051eba',
  arm64: '2f2111d04c5427dfb6d05040f8f54de7fccf3156f31e433dc10cb3f695e08be3',
}
