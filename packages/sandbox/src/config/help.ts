import { type Setting, settings, variableOf } from './settings.ts';

/** Commands beside serving, one line each. */
const commands = [
  ['(none)', 'serve the API'],
  ['accounts list', 'accounts and their credentials, by id'],
  ['accounts add --id 101 --name "Main"', 'add or rename an account'],
  ['accounts key --id 101', 'make keys and a bearer token, printed this once'],
  ['accounts revoke --key <id>', 'revoke a credential'],
  ['accounts disable --id 101', 'answer its keys with 403; enable undoes it'],
  ['import --id 101 calls.ndjson', 'add or replace calls from NDJSON (- for stdin, .gz is unpacked)'],
  [
    'export --id 101 calls.ndjson',
    'write calls as NDJSON (- for stdout, .gz is packed; --form v2|v3|neutral)',
  ],
  ['purge --id 101 --before "2024-01-01 00:00:00"', 'delete calls that are older'],
  ['erase --id 101', 'delete the calls of a caller; the number is read from stdin'],
  ['sizes', 'calls, bytes and ages per account'],
  ['check', 'compare the counts with the calls; exit status 1 when they differ'],
  ['rebuild', 'count everything anew'],
] as const;

/** The text of `--help`, made from the table of settings. */
export function helpText(): string {
  const flags = Object.entries(settings as Readonly<Record<string, Setting>>).map(([name, setting]) => {
    const value =
      setting.kind === 'switch'
        ? ''
        : ` <${setting.values?.join('|') ?? (setting.kind === 'integer' ? 'n' : 'text')}>`;
    const standard = setting.standard === undefined ? '' : ` [${setting.standard}]`;
    return line(`--${name}${value}`, `${setting.help}${standard}`);
  });
  return [
    'The call-attribution API over a store: a sandbox with made-up calls, or a mirror of your own.',
    '',
    'Usage: call-attribution-service [command] [--store <url>] [flags]',
    '',
    'Commands:',
    ...commands.map(([name, text]) => line(name, text)),
    '',
    'Flags:',
    ...flags,
    line('--config <file>', 'JSON object with any of these names'),
    line('--dump-config', 'print the settings in force, without secrets, and end'),
    line('--help, --version', ''),
    '',
    `Each flag can be set in the environment too, such as ${variableOf('max-rows')}=500.`,
    'A flag wins over the environment, the environment over the file.',
    '',
    'Try it: call-attribution-service --sandbox --port 0 --ready-json',
    '',
  ].join('\n');
}

function line(name: string, text: string): string {
  return name.length < 34 ? `  ${name.padEnd(34)}${text}`.trimEnd() : `  ${name}\n  ${' '.repeat(34)}${text}`;
}
