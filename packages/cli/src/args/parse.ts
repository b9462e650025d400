import { nearest } from '@call-attribution/query-dsl/nearest';
import { UsageError } from '../errors.ts';
import type { Args, CommandSpec, OptionSpec } from './command.ts';
import { unknownOption } from './unknown-option.ts';

/**
 * Reads what was typed after the name of a command. Every mistake is a `UsageError` that says what to type; `all` are the
 * commands, to name the one that has an option which this command does not have.
 */
export function parseArgs(
  argv: readonly string[],
  command: CommandSpec,
  shared: readonly OptionSpec[],
  all: readonly CommandSpec[] = [],
): Args {
  const options = [...command.options, ...shared];
  const values = new Map<string, string[]>();
  const words: string[] = [];
  let flagBefore: OptionSpec | undefined;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      words.push(...argv.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      words.push(word);
      if (words.length > (command.positionals ?? []).length) throw tooMany(word, command, flagBefore);
      flagBefore = undefined;
      continue;
    }
    const { spec, value, length } = readOption(argv, at, { command, options, all });
    if (values.has(spec.name) && !spec.repeat)
      throw new UsageError(`--${spec.name} was given twice`, {
        hints: [`give it once; ${seeHelp(command)}`],
      });
    flagBefore = spec.value === undefined ? spec : undefined;
    values.set(spec.name, [...(values.get(spec.name) ?? []), value]);
    at += length - 1;
  }
  checkWords(words, command);
  for (const { name, required, value } of command.options) {
    if (required && !values.has(name))
      throw new UsageError(`calls ${command.name} needs --${name} ${value}`, { hints: [seeHelp(command)] });
  }
  return view(command.name, words, values, options);
}

const seeHelp = ({ name }: CommandSpec): string => `see calls ${name} --help`;

/** Where options are looked for. */
interface Known {
  readonly command: CommandSpec;
  readonly options: readonly OptionSpec[];
  readonly all: readonly CommandSpec[];
}

/** The option at this place, with its value, and how many words it takes. */
function readOption(
  argv: readonly string[],
  at: number,
  { command, options, all }: Known,
): { readonly spec: OptionSpec; readonly value: string; readonly length: 1 | 2 } {
  const word = argv[at] ?? '';
  const next = argv[at + 1];
  const { shown, attached } = splitWord(word, options);
  const spec = findOption(shown, options);
  if (!spec) throw unknownOption(shown, options, command.name, all);
  if (spec.value === undefined) {
    if (attached !== null)
      throw new UsageError(`--${spec.name} takes no value`, { hints: [seeHelp(command)] });
    return { spec, value: 'true', length: 1 };
  }
  if (attached === null && (next === undefined || isOption(next, options))) {
    throw new UsageError(`--${spec.name} needs a value: --${spec.name} ${spec.value}`, {
      hints: [seeHelp(command)],
    });
  }
  const value = attached ?? next ?? '';
  if (spec.choices && !spec.choices.includes(value))
    throw notAChoice(`--${spec.name}`, value, spec.choices, options);
  checkBraces(value, spec, command);
  return { spec, value, length: attached === null ? 2 : 1 };
}

/** A word in braces that nothing replaces would be the name of the file. */
function checkBraces(value: string, { name, replaces }: OptionSpec, command: CommandSpec): void {
  const word = value.match(/\{\w+\}/g)?.find((each) => !replaces?.includes(each));
  if (replaces === undefined || word === undefined) return;
  throw new UsageError(`--${name} ${value}: calls ${command.name} does not replace ${word} in it`, {
    hints: [
      replaces.length > 0
        ? `what it replaces is ${replaces.join(' and ')}`
        : "write the name itself; the shell's $(date +%F) is the day",
    ],
  });
}

/** The option that is typed so, such as `--limit` or `-n`. */
export function findOption(shown: string, options: readonly OptionSpec[]): OptionSpec | undefined {
  if (shown.startsWith('--')) return options.find((option) => `--${option.name}` === shown);
  return options.find((option) => option.short !== undefined && `-${option.short}` === shown);
}

/** The option and its value in one word: -n5, -ocalls.csv, --limit=5. */
function splitWord(
  word: string,
  options: readonly OptionSpec[],
): { readonly shown: string; readonly attached: string | null } {
  const letter = word.slice(0, 2);
  if (
    word.length > 2 &&
    letter !== '--' &&
    word[2] !== '=' &&
    findOption(letter, options)?.value !== undefined
  )
    return { shown: letter, attached: word.slice(2) };
  const equals = word.indexOf('=');
  if (equals < 0) return { shown: word, attached: null };
  return { shown: word.slice(0, equals), attached: word.slice(equals + 1) };
}

// A value may start with a dash (a negative number, `-` for stdout) unless it is itself an option of this command.
function isOption(word: string, options: readonly OptionSpec[]): boolean {
  return (
    word.startsWith('-') && word !== '-' && findOption(word.split('=', 1)[0] ?? '', options) !== undefined
  );
}

function notAChoice(
  what: string,
  value: string,
  choices: readonly string[],
  options: readonly OptionSpec[] = [],
): UsageError {
  const flag = options.find((option) => option.name === value && option.value === undefined);
  return new UsageError(`${what} cannot be ${JSON.stringify(value)}`, {
    hints: [
      ...(flag ? [`use --${flag.name}: ${flag.text}`] : meantChoice(value, choices)),
      `use one of: ${choices.join(', ')}`,
    ],
  });
}

function meantChoice(value: string, choices: readonly string[]): string[] {
  const begun = value === '' ? [] : choices.filter((choice) => choice.startsWith(value));
  if (begun.length > 1) return [`did you mean ${begun.join(' or ')}?`];
  // One of two letters that differs is not a slip: v4 is not v2.
  const near = value.length > 2 ? nearest(value, choices) : undefined;
  return near ? [`did you mean ${near}?`] : [];
}

function tooMany(word: string, { name }: CommandSpec, flagBefore?: OptionSpec): UsageError {
  return new UsageError(`calls ${name} has one argument too many: ${JSON.stringify(word)}`, {
    hints: [
      flagBefore
        ? `--${flagBefore.name} takes no value: ${flagBefore.text}`
        : `put quotes around a value with spaces; see calls ${name} --help`,
    ],
  });
}

function checkWords(words: readonly string[], command: CommandSpec): void {
  const positionals = command.positionals ?? [];
  const extra = words[positionals.length];
  if (extra !== undefined) throw tooMany(extra, command);
  for (const [at, positional] of positionals.entries()) {
    const word = words[at];
    if (word === undefined) {
      if (positional.required)
        throw new UsageError(`calls ${command.name} needs ${positional.name}`, { hints: [seeHelp(command)] });
    } else if (positional.choices && !positional.choices.includes(word)) {
      throw notAChoice(positional.name, word, positional.choices);
    }
  }
}

function view(
  command: string,
  words: readonly string[],
  values: ReadonlyMap<string, readonly string[]>,
  options: readonly OptionSpec[],
): Args {
  const first = (name: string): string | null => {
    // Otherwise a name misspelled in this program would silently read as "not given".
    if (!options.some((option) => option.name === name)) throw new Error(`no option --${name} in the table`);
    return values.get(name)?.[0] ?? null;
  };
  const numeric = (name: string, min: number, max: number, whole: boolean): number | null => {
    const text = first(name);
    if (text === null) return null;
    const value = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isNaN(value) || (whole && !Number.isSafeInteger(value)) || value < min || value > max) {
      const bound = max === Number.POSITIVE_INFINITY ? `, ${min} or greater` : ` from ${min} to ${max}`;
      const kind = whole ? 'a whole number' : 'a number';
      throw new UsageError(`--${name} must be ${kind}${bound}, not ${JSON.stringify(text)}`);
    }
    return value;
  };
  return {
    command,
    words,
    has: (name) => options.some((option) => option.name === name),
    text: first,
    need(name) {
      const value = first(name);
      if (value === null) throw new Error(`--${name} is not required in the table`);
      return value;
    },
    flag: (name) => first(name) !== null,
    list: (name) => {
      first(name);
      return (values.get(name) ?? []).flatMap((text) =>
        text
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean),
      );
    },
    integer: (name, { min = 0, max = Number.POSITIVE_INFINITY } = {}) => numeric(name, min, max, true),
    number: (name, { min = 0 } = {}) => numeric(name, min, Number.POSITIVE_INFINITY, false),
  };
}
