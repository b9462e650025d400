import { errorKinds } from '@call-attribution/core/errors';

/** Every exit status of `calls`. `calls --help` and the README have the same table. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: errorKinds.usage.exitStatus,
  incomplete: 3,
  refused: errorKinds.keys.exitStatus,
  unreachable: errorKinds.away.exitStatus,
  notFound: 6,
  output: errorKinds.disk.exitStatus,
  busy: errorKinds.busy.exitStatus,
  interrupted: 130,
} as const;

/** What each exit status means, for the help. */
export const exitCodeTexts: readonly (readonly [number, string])[] = [
  [exitCodes.ok, 'done'],
  [exitCodes.failed, 'failed; the message says why'],
  [exitCodes.usage, 'wrong option, filter or configuration; there is no API at the URL'],
  [exitCodes.incomplete, 'the result is incomplete; the message says what is missing'],
  [exitCodes.refused, 'the server refused the keys'],
  [exitCodes.unreachable, 'the server or the database did not respond, or failed'],
  [exitCodes.notFound, 'there is no such call or field'],
  [exitCodes.output, 'the output could not be written (disk full, no permission)'],
  [
    exitCodes.busy,
    'the server asked to slow down or was overloaded (status 429 or 503), or another process is at work; try again later',
  ],
  [exitCodes.interrupted, 'stopped by Ctrl-C or a signal'],
];
