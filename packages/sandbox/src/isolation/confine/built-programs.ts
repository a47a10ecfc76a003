// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = '698c9a362e907104cc57ba6d256a97e9fadfaf0179f39af9693b7ca476983976'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: '834611872a15b2579642c452b0bf4f5aaf601fe033209bde0f5cb04cf6e1986a',
  arm64: 'd0972ccd5daef909412f34b83beba6676f3b56af568943ee971149400801b854',
}
