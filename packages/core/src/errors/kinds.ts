/**
 * What follows from the kind of an error, whatever its code: the exit status of `calls`, whether
 * the same may succeed when it is tried again, and who has to act. docs/errors.md has these rows.
 */
export const errorKinds = {
  usage: {
    means: 'An option, an argument, a setting, a question or a file is wrong.',
    exitStatus: 2,
    isRetryable: false,
    fault: 'caller',
  },
  keys: {
    means: 'Credentials are missing or refused.',
    exitStatus: 4,
    isRetryable: false,
    fault: 'account',
  },
  busy: {
    means: 'A server asked to slow down, or another process is at work.',
    exitStatus: 8,
    isRetryable: true,
    fault: 'server',
  },
  away: {
    means: 'A server or a database does not respond, or not as itself.',
    exitStatus: 5,
    isRetryable: true,
    fault: 'server',
  },
  data: {
    means: 'What was sent, received or stored is not as it should be.',
    exitStatus: 1,
    isRetryable: false,
    fault: 'server',
  },
  disk: {
    means: 'A file cannot be written or read: no space, no permission, damage.',
    exitStatus: 7,
    isRetryable: true,
    fault: 'machine',
  },
  bug: {
    means: 'A program has a mistake.',
    exitStatus: 1,
    isRetryable: false,
    fault: 'program',
  },
} as const;

/**
 * The kinds of errors, for programs that do not need to tell codes apart. docs/errors.md says what
 * each means.
 */
export type ErrorKind = keyof typeof errorKinds;
