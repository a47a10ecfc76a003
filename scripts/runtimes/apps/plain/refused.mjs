// What an importer of the packages that confine commands reads under another runtime than Node.
for (const name of ['@smithers/sandbox', '@smithers/builtin-tools', '@smithers/orchestrator']) {
  try {
    await import(name)
    console.log(name, 'was imported')
  } catch (error) {
    console.log(name, error.code, error.message)
  }
}
