/** Every exit status `calls` can end with; the same table is printed by `calls --help` and in the README. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  incomplete: 3,
  refused: 4,
  unreachable: 5,
  notFound: 6,
  output: 7,
  interrupted: 130,
} as const;

/** One line for each exit status, in the words of the help text. */
export const exitCodeTexts: readonly (readonly [number, string])[] = [
  [exitCodes.ok, 'done'],
  [exitCodes.failed, 'failed; the message says why'],
  [exitCodes.usage, 'wrong flag, filter or configuration; nothing was asked of the server'],
  [exitCodes.incomplete, 'the export is incomplete; the message says what is missing'],
  [exitCodes.refused, 'the server refused the keys'],
  [exitCodes.unreachable, 'the server could not be reached in time'],
  [exitCodes.notFound, 'no such call'],
  [exitCodes.output, 'the output could not be written (disk full, no permission)'],
  [exitCodes.interrupted, 'stopped by Ctrl-C or a signal'],
];
