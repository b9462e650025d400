import { plainSettings } from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { UsageError } from '../errors.ts';
import type { CommandSpec, OptionSpec } from './command.ts';

// Options that other programs take secrets by. Every user of the machine can see an option, and the shell's history keeps it.
const secretOptions =
  /^(access-key|secret-key|secret-access-key|bearer-token|api-key|token|password|secret)$/;

/** What is said of an option that the command does not have: which one was meant, or where it is one. */
export function unknownOption(
  shown: string,
  options: readonly OptionSpec[],
  command: string,
  all: readonly CommandSpec[],
): UsageError {
  const name = shown.replace(/^-+/, '');
  if (secretOptions.test(name)) {
    return new UsageError(
      `${shown}: keys are never options, because other users of the machine could read them`,
      {
        hints: [
          'set CALLS_ACCESS_KEY and CALLS_SECRET_KEY (or CALLS_BEARER_TOKEN) in the environment,',
          'or let calls init keep them, or enter them when asked',
        ],
      },
    );
  }
  return new UsageError(`calls ${command} has no option ${shown}`, {
    hints: [...hintsFor(name, options, all), `calls ${command} --help lists all options`],
  });
}

function hintsFor(name: string, options: readonly OptionSpec[], all: readonly CommandSpec[]): string[] {
  const meant = nearestOption(name, options);
  if (meant !== undefined && !meant.isSpelling) return [useOf(meant.option, name)];
  const setting = settingNamed(name);
  if (setting !== null) return [setting];
  if (meant !== undefined) return [`did you mean --${meant.option.name}?`];
  return [...elsewhere(name, all), ...choosing(options)];
}

/** How the option is typed instead: --csv is --format csv. */
function useOf({ name, value, choices, text }: OptionSpec, typed: string): string {
  if (choices?.includes(typed)) return `use --${name} ${typed}`;
  return `use --${name}${value ? ` ${value}` : ''}: ${text}`;
}

/** How a command that reads calls is told which, for those who look for an option of their own for it. */
const choosing = (options: readonly OptionSpec[]): string[] =>
  options.some(({ name }) => name === 'where')
    ? [`--q 'talk_minutes:[0 TO 0]' chooses missed calls; in a copy, --where "campaign = 'Brand' and missed"`]
    : [];

/** The option that other programs call so, or that has it as a choice. */
const calledSo = (options: readonly OptionSpec[], name: string): OptionSpec | undefined =>
  options.find(({ otherNames }) => otherNames?.includes(name)) ??
  options.find(({ choices }) => choices?.includes(name));

/** The option with a similar name, or with a name in other programs that is similar. */
function nearestOption(
  name: string,
  options: readonly OptionSpec[],
): { readonly option: OptionSpec; readonly isSpelling: boolean } | undefined {
  const same = calledSo(options, name);
  if (same) return { option: same, isSpelling: false };
  // Letters in another order are a slip; `form` is not the beginning of `format`.
  const swapped = options.find((option) => sorted(option.name) === sorted(name));
  if (swapped) return { option: swapped, isSpelling: true };
  const near = nearest(
    name,
    options.flatMap((option) => [option.name, ...(option.otherNames ?? [])]),
  );
  const option = options.find((option) => option.name === near || option.otherNames?.includes(near ?? ''));
  return option && { option, isSpelling: option.name === near };
}

const sorted = (name: string): string => [...name].sort().join('');

/** How the setting with this name is set, which is no option of the command; null when there is none. */
function settingNamed(name: string): string | null {
  const found = Object.entries(plainSettings).find(
    ([key]) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) === name,
  );
  if (found === undefined) return null;
  const [key, { variable, place }] = found;
  const inFile = place === 'environment' ? '' : `, or "${key}" in calls.config.json`;
  return `it is a setting: ${variable} in the environment${inFile}`;
}

/** Which commands have the option. */
function elsewhere(name: string, all: readonly CommandSpec[]): string[] {
  const command = all.find((known) => known.name === name);
  const asCommand = command ? [`calls ${name} is a command: ${command.summary}`] : [];
  const having = (options: readonly OptionSpec[]): OptionSpec | undefined =>
    options.find((option) => option.name === name) ?? calledSo(options, name);
  const found = all.flatMap((command) => {
    const option = having(command.options);
    return option ? [`${command.name} --${option.name}`] : [];
  });
  if (found.length === 0) return asCommand;
  const shown = found.slice(0, 3).map((line) => `calls ${line}`);
  const more = found.length > 3 ? ` and ${found.length - 3} more` : '';
  return [...asCommand, `it is an option of ${shown.join(', ')}${more}`];
}
