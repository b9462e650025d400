import { parseArgs } from 'node:util';
import { revealChoices } from '@call-attribution/core/fields';
import { nearest } from '@call-attribution/query-dsl';
import type { Reveal } from '../privacy/mask.ts';

/** A command line that cannot be used. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const options = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  check: { type: 'boolean' },
  http: { type: 'boolean' },
  port: { type: 'string' },
  host: { type: 'string' },
  path: { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  'allow-origin': { type: 'string', multiple: true },
  resource: { type: 'string' },
  'authorization-server': { type: 'string', multiple: true },
  budget: { type: 'string' },
  reveal: { type: 'string', multiple: true },
  memory: { type: 'boolean' },
  account: { type: 'string', multiple: true },
  'all-accounts': { type: 'boolean' },
} as const;

/** What the command line says. */
export type CommandLine = ReturnType<typeof readCommandLine>;

/** Reads the command line. Throws a `UsageError` that says what is wrong and what was probably meant. */
export function readCommandLine(argv: readonly string[]) {
  const values = parse(argv);
  const action = (['help', 'version', 'check'] as const).find((name) => values[name]) ?? 'serve';
  const http = values.http === true || values.port !== undefined;
  const servers = values['authorization-server'] ?? [];
  if ((values.resource === undefined) !== (servers.length === 0)) {
    throw new UsageError('--resource and --authorization-server must be used together.');
  }
  return {
    action,
    http,
    port: integer('--port', values.port ?? '3000', 0, 65_535),
    host: values.host ?? '127.0.0.1',
    path: values.path ?? '/mcp',
    allowedHosts: values['allow-host'] ?? [],
    allowedOrigins: values['allow-origin'] ?? [],
    resource: values.resource,
    authorizationServers: servers,
    budget: values.budget === undefined ? undefined : integer('--budget', values.budget, 1000, 1_000_000),
    /** Copies are kept in memory. */
    memory: values.memory === true,
    /** Accounts of the configuration file; undefined for the one account of the other settings. */
    accounts: values['all-accounts']
      ? ('all' as const)
      : values.account
          ?.flatMap((list) => list.split(','))
          .map((name) => name.trim())
          .filter((name) => name !== ''),
    reveal: (values.reveal ?? []).flatMap((list) => list.split(',')).map(revealClass),
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const message = error instanceof Error ? error.message.split('. ')[0] : String(error);
    const flag = argv.find(
      (each) => each.startsWith('--') && !Object.hasOwn(options, each.slice(2).split('=')[0] ?? ''),
    );
    const meant = flag === undefined ? undefined : nearest(flag, Object.keys(options));
    throw new UsageError(`${message}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`);
  }
}

function integer(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new UsageError(`${flag} must be a whole number from ${least} to ${most}.`);
  }
  return value;
}

function revealClass(text: string): Reveal {
  const name = text.trim().toLowerCase();
  const known = revealChoices.find((choice) => choice === name);
  if (known !== undefined) return known;
  const meant = nearest(name, revealChoices);
  throw new UsageError(
    `--reveal does not know "${name}"; it takes ${revealChoices.join(', ')}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
  );
}
