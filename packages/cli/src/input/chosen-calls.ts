import type { CallSelection } from '@call-attribution/questions';

/**
 * Which calls a command is about, besides their period: those of --where, in the words of the
 * configuration file, without those that it excludes.
 */
export type ChosenCalls = Pick<CallSelection, 'where' | 'definitions' | 'exclude'>;

/** All calls. */
export const everyCall: ChosenCalls = {};

/** Does anything choose among the calls? */
export const narrows = ({ where, exclude }: ChosenCalls): boolean =>
  where !== undefined || exclude !== undefined;
