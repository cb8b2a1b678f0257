/** The exit codes of failures, by error tag; docs/errors.md lists them. */
export const EXIT_CODES = {
  OperatorError: 1,
  InvalidInput: 2,
  Unclear: 2,
  ConfigurationError: 3,
  NotAdmitted: 4,
  NotAllowed: 4,
  NotInScope: 4,
  UnknownName: 6,
  Unavailable: 7,
  // A change that can't be decided as it is.
  Stale: 8,
  Expired: 8,
  Decided: 8,
  NotYet: 8,
  TooManyCalls: 9
} as const
