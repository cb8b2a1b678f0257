// Mutants that survive and why they don't leak. The first entry that fits a survivor speaks for it.
export const accepted = []
