// What a runtime that cannot confine commands is told when it imports the packages that do.
for (const name of ['@smithers/sandbox', '@smithers/builtin-tools', '@smithers/orchestrator']) {
  try {
    await import(name)
    console.log(name, 'was imported')
  } catch (error) {
    console.log(name, error.code, error.message)
  }
}
