import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nearest } from '@call-attribution/query-dsl';
import { environmentPrefix, type Setting, type Settings, settings, variableOf } from './settings.ts';

/** A setting that is unknown or has no usable value; its message is one line for the person who set it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Flags beside the settings, each command's own. */
export type ExtraFlags = Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;

/** What was typed and found: settings, the flags of the command, and the words that are no flags. */
export interface Given {
  readonly settings: Settings;
  readonly extra: Readonly<Record<string, string | boolean | undefined>>;
  readonly words: readonly string[];
}

const table: Readonly<Record<string, Setting>> = settings;

/** Reads the settings: a flag wins over the environment, the environment over the file. Unknown names are refused. */
export function readSettings(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  extra: ExtraFlags = {},
): Given {
  const { values, positionals } = readFlags(argv, extra);
  const file = values.config ?? environment[`${environmentPrefix}CONFIG`];
  const merged = {
    ...(typeof file === 'string' ? fromFile(file) : {}),
    ...fromEnvironment(environment),
    ...fromFlags(values),
  };
  const own = Object.fromEntries(Object.keys(extra).map((name) => [name, values[name]]));
  return { settings: merged as Settings, extra: own, words: positionals };
}

function readFlags(argv: readonly string[], extra: ExtraFlags) {
  const names = [...Object.keys(table), ...Object.keys(extra), 'config'];
  const known = Object.fromEntries(
    Object.entries(table).map(([name, { kind }]) => [
      name,
      { type: kind === 'switch' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  try {
    return parseArgs({
      args: [...argv],
      options: { ...known, ...extra, config: { type: 'string' as const } },
      allowPositionals: true,
      strict: true,
    }) as { values: Record<string, string | boolean | undefined>; positionals: string[] };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const flag = /'(?:-\w, )?--?([\w-]+)/.exec(message)?.[1];
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
      throw new SettingsError(`There is no flag --${flag}.${hint(flag ?? '', names, '--')}`);
    throw new SettingsError(
      flag === undefined ? message : `The flag --${flag} needs a value, or takes none. See --help.`,
    );
  }
}

function fromFlags(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(values).filter(([name, value]) => name in table && value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, read(`The flag --${name}`, name, value)]));
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Record<string, unknown> {
  const byVariable = new Map(Object.keys(table).map((name) => [variableOf(name), name]));
  const found: Record<string, unknown> = {};
  for (const [variable, value] of Object.entries(environment)) {
    if (
      !variable.startsWith(environmentPrefix) ||
      variable === `${environmentPrefix}CONFIG` ||
      value === undefined
    )
      continue;
    const name = byVariable.get(variable);
    if (name === undefined) {
      throw new SettingsError(
        `The variable ${variable} sets nothing.${hint(variable, [...byVariable.keys()], '')}`,
      );
    }
    found[name] = read(`The variable ${variable}`, name, value);
  }
  return found;
}

function fromFile(path: string): Record<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new SettingsError(
      `The configuration file ${path} ${reason}. It holds one object such as {"port": 8080}.`,
    );
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new SettingsError(`The configuration file ${path} holds no object. It looks like {"port": 8080}.`);
  }
  const names = Object.keys(table);
  const entries = Object.entries(content).map(([name, value]) => {
    if (!names.includes(name))
      throw new SettingsError(`${path} sets ${name}, which does not exist.${hint(name, names, '')}`);
    return [name, read(`${name} in ${path}`, name, value)] as const;
  });
  return Object.fromEntries(entries);
}

function read(what: string, name: string, value: unknown): unknown {
  const { kind, values, least = 0, most = 0 } = table[name] as Setting;
  if (kind === 'switch') {
    const wanted = { true: true, '1': true, false: false, '0': false }[String(value)];
    if (wanted === undefined) throw new SettingsError(`${what} is a switch: expected true or false.`);
    return wanted;
  }
  if (kind === 'integer') {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most)
      return number;
    throw new SettingsError(`${what} must be a whole number from ${least} to ${most}.`);
  }
  if (typeof value !== 'string' || value === '') throw new SettingsError(`${what} must be a text.`);
  if (values !== undefined && !values.includes(value))
    throw new SettingsError(`${what} must be one of ${values.join(', ')}.`);
  return value;
}

/** " Did you mean …?" for a name that is close to a known one, else where to look. */
function hint(name: string, known: readonly string[], dashes: string): string {
  const near = nearest(name, known);
  return near === undefined ? ' See --help.' : ` Did you mean ${dashes}${near}?`;
}
