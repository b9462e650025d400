import { fields } from '@call-attribution/core';
import type { CommandSpec, OptionSpec, PositionalSpec } from '../args/command.ts';
import { groupNames } from '../report/dimensions.ts';

/** Makes the completion script of a shell from the table of commands. */
export type CompletionWriter = (commands: readonly CommandSpec[], shared: readonly OptionSpec[]) => string;

/** Names that are completed in lists with commas. */
export const lists: Readonly<Record<'fields' | 'groups', readonly string[]>> = {
  fields: fields.map(({ name }) => name),
  groups: groupNames,
};

/** The options of a command, with those of all commands. */
export const optionsOf = (command: CommandSpec, shared: readonly OptionSpec[]): readonly OptionSpec[] => [
  ...command.options,
  ...shared,
];

/** How an option is typed: its short and its long form. */
export const formsOf = ({ name, short }: OptionSpec): string[] => [
  ...(short === undefined ? [] : [`-${short}`]),
  `--${name}`,
];

/** The words that can be typed for an argument. */
export const wordsOf = ({ choices = [], offers = [] }: PositionalSpec): readonly string[] => [
  ...choices,
  ...offers,
];
