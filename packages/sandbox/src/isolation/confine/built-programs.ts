// Written by native/build.sh.

/** SHA-256 of the sources that the programs were built from. */
export const confineSources = '805615f342cfdd3368dacedde9ce1b28573a5af97c784be7ff75d5c763f35cdc'

/** SHA-256 of the programs, by the architecture as Node names it. */
export const confinePrograms: Readonly<Record<string, string>> = {
  x64: '4dad579e3af0a5295a0a41268fcdfa17ef9054d4a33120b835304eff2f9edaf3',
  arm64: 'a81c2d4d45f8a12fd165d14dc402258156f6c7d88125a7494d1f5722a8bde4d3',
}
