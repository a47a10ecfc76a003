// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = 'ed267a235cef5cd0a3119a68badc89f5a425b0ba0251e836688885ffcf8d61e0'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: 'ddaa5acce6bc71f60ab6c23a7dafe18f814f22f8b0f14dd31991fa53228f67ad',
  arm64: '010c21c92dde1dcb54fd5c24bfdd762dfbfebc51cc4ed5392feee0614b759729',
}
