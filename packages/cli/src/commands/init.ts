import { command } from '../command.ts';
import { connection, legacy } from '../options.ts';

/** `calls init`. */
export const init = command({
  name: 'init',
  summary: 'ask for address, keys and time zone, try them, and keep them',
  about:
    'Keeps them in the configuration file of your own, which all commands read; each key in a file that only you can read, or as the ' +
    'command of a password manager that prints it. Without a terminal, it tries and keeps what options and environment say.',
  options: {
    '--account <name>': 'add an account of this name, to be chosen with --account',
    '--default <name>': 'use this account when none is chosen',
    ...connection,
    ...legacy,
  },
  examples: {
    'calls init': 'answer its questions once, and no terminal needs an export any more',
    'calls init --account berlin': 'another account: calls list --account berlin',
    'calls init --default berlin': 'the account of every command without --account',
  },
  async run(args, io) {
    return (await import('./runs/init.ts')).init(args, io);
  },
});
