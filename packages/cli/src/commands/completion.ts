import type { Handler } from '../args/command.ts';
import { completionScript, shells } from '../args/completion.ts';
import { sharedOptions } from '../args/options.ts';
import { exitCodes } from '../exit-codes.ts';
import { write } from '../io.ts';

/** `calls completion`: the script for one shell. */
export const completion: Handler = async (args, io, commands) => {
  const shell = shells.find((name) => name === args.words[0]) ?? 'bash';
  await write(io.stdout, completionScript(shell, commands, sharedOptions));
  return exitCodes.ok;
};
