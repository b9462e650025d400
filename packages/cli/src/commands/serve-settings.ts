import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Args, CommandSpec, OptionSpec } from '../args/command.ts';
import { parseArgs } from '../args/parse.ts';
import { refusePassword } from '../calls/store-url.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

const prefix = 'CALLS_SERVICE_';
const variableOf = (name: string): string => prefix + name.toUpperCase().replaceAll('-', '_');

/** What one option is set to, and what a message calls it. */
interface Setting {
  readonly spec: OptionSpec;
  readonly value: unknown;
  readonly source: string;
}

/**
 * The options of `calls serve` from all places: an option wins over `CALLS_SERVICE_…` in the environment, that over the file
 * of `--config`, that over the default.
 */
export function serveSettings(args: Args, io: Io, commands: readonly CommandSpec[]): Args {
  const url = args.text('store');
  if (url !== null) refusePassword(url);
  const serve = commands.find(({ name }) => name === 'serve') as CommandSpec;
  const file = args.text('config') ?? io.env[`${prefix}CONFIG`] ?? null;
  const settings = [
    ...(file === null ? [] : fromFile(file, resolve(io.cwd, file), serve)),
    ...fromEnvironment(io.env, serve),
  ];
  const elsewhere = new Map(
    settings.map(({ spec, value, source }) => [spec.name, read(spec, value, source)]),
  );
  const source = new Map(settings.map((setting) => [setting.spec.name, setting.source]));
  const defaults = new Map(serve.options.map((spec) => [spec.name, spec.default]));
  const parsed = parseArgs(
    [...elsewhere].flatMap(([name, value]) =>
      value === false ? [] : [value === true ? `--${name}` : `--${name}=${value}`],
    ),
    serve,
    [],
  );

  /** Where a value comes from: what was typed, or else what was found elsewhere. */
  const layer = (name: string): Args => (args.flag(name) ? args : parsed);
  const text = (name: string): string | null => {
    const standard = defaults.get(name);
    return layer(name).text(name) ?? (standard === undefined ? null : String(standard));
  };
  return {
    words: args.words,
    has: (name) => args.has(name),
    text,
    flag: (name) => layer(name).flag(name),
    list: (name) => layer(name).list(name),
    number: (name, bounds) => layer(name).number(name, bounds),
    integer(name, bounds) {
      try {
        return layer(name).integer(name, bounds) ?? (defaults.get(name) as number | undefined) ?? null;
      } catch (error) {
        const place = source.get(name);
        if (!(error instanceof UsageError) || args.flag(name) || place === undefined) throw error;
        throw new UsageError(error.message.replace(`--${name}`, place));
      }
    },
  };
}

/** The settings in force, in the form of a configuration file. Passwords in the address of the store are left out. */
export function dumpSettings(settings: Args, commands: readonly CommandSpec[]): string {
  const serve = commands.find(({ name }) => name === 'serve') as CommandSpec;
  const shown = serve.options
    .filter((spec) => isSetting(spec))
    .map((spec) => [spec.name, inForce(settings, spec)] as const)
    .filter(([, value]) => value !== null && value !== false);
  return `${JSON.stringify(Object.fromEntries(shown), null, 2)}\n`;
}

function inForce(settings: Args, { name, value }: OptionSpec): string | number | boolean | null {
  if (value === undefined) return settings.flag(name);
  if (value === 'N' || value === 'MS') return settings.integer(name);
  const text = settings.text(name);
  return name === 'store' && text !== null ? withoutPassword(text) : text;
}

function withoutPassword(url: string): string {
  return url
    .replace(/^(\w+:\/\/[^:@/]*):.*@/, '$1:***@')
    .replace(/([?&](?:password|sslpassword)=)[^&]*/g, '$1***');
}

const notSettings = ['config', 'dump-config', 'hash-password'];
const isSetting = ({ name }: OptionSpec): boolean => !notSettings.includes(name);

function fromEnvironment(env: Io['env'], serve: CommandSpec): Setting[] {
  const byVariable = new Map(serve.options.filter(isSetting).map((spec) => [variableOf(spec.name), spec]));
  return Object.entries(env).flatMap(([variable, value]) => {
    if (!variable.startsWith(prefix) || variable === `${prefix}CONFIG` || value === undefined) return [];
    const spec = byVariable.get(variable);
    if (spec === undefined)
      throw unknown(`calls serve has no setting ${variable}`, variable, [...byVariable.keys()]);
    return [{ spec, value, source: variable }];
  });
}

function fromFile(shown: string, path: string, serve: CommandSpec): Setting[] {
  const example = 'it looks like {"port": 8675, "max-rows": 500}';
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new UsageError(`the configuration file ${shown} ${reason}`, { hints: [example], cause });
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new UsageError(`the configuration file ${shown} must hold one JSON object`, { hints: [example] });
  const options = serve.options.filter(isSetting);
  return Object.entries(content).map(([name, value]) => {
    const spec = options.find((option) => option.name === name);
    if (spec !== undefined) return { spec, value, source: `${name} in ${shown}` };
    throw unknown(
      `${shown} has an unknown name ${JSON.stringify(name)}`,
      name,
      options.map((option) => option.name),
    );
  });
}

/** A value from the environment or a file, as the parser takes it: text, or true or false for a switch. */
function read(spec: OptionSpec, value: unknown, source: string): string | boolean {
  if (spec.value === undefined) {
    const wanted = { true: true, '1': true, false: false, '0': false }[String(value)];
    if (wanted === undefined)
      throw new UsageError(`${source} must be true or false, not ${JSON.stringify(value)}`);
    return wanted;
  }
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '')
    throw new UsageError(`${source} must be a string or a number, not ${JSON.stringify(value)}`);
  if (spec.choices && !spec.choices.includes(text)) {
    throw new UsageError(`${source} cannot be ${JSON.stringify(text)}`, {
      hints: [`use one of: ${spec.choices.join(', ')}`],
    });
  }
  return text;
}

function unknown(message: string, name: string, known: readonly string[]): UsageError {
  const near = nearest(name, known);
  return new UsageError(message, {
    hints: [...(near ? [`did you mean ${near}?`] : []), 'calls serve --help lists all settings'],
  });
}
