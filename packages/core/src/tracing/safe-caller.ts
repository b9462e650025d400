import process from 'node:process';

/** Calls something of the program. What it throws or rejects with goes no further. */
export type CallSafely = (call: () => unknown) => void;

/**
 * Makes what calls one callback of a program. The first error of the callback, thrown or rejected,
 * is a warning of the process; none ends what calls it. The warning has the kind of the error and
 * its place, and not its message, which may quote a record.
 *
 * @param name what the warning calls it, such as `onReport`.
 */
export function safeCaller(name: string): CallSafely {
  let hasWarned = false;

  const warn = (error: unknown): void => {
    if (hasWarned) return;
    hasWarned = true;
    const kind = error instanceof Error ? error.name : typeof error;
    process.emitWarning(
      `${name} threw (${kind}). Its errors end nothing, and only the first is shown.`,
      {
        type: 'CallsWarning',
        code: 'CALLBACK_THREW',
        detail: framesOf(error),
      },
    );
  };

  return (call) => {
    try {
      const result = call();
      if (typeof result === 'object' && result !== null && 'then' in result)
        Promise.resolve(result).catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}

/** Where an error was thrown: the lines of its stack after its message. */
export function framesOf(error: unknown): string {
  const { stack = '', message = '' } = error instanceof Error ? error : {};
  const after = stack.indexOf(message) + message.length;
  return stack
    .slice(after)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
}
