import type { Handler } from '../args/command.ts';
import { bash, fish, zsh } from '../completion/scripts.ts';
import { exitCodes } from '../exit-codes.ts';
import { write } from '../io.ts';

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

/** `calls completion`: the script that asks `calls complete` what can be typed next. */
export const completion: Handler = async (args, io) => {
  await write(io.stdout, scripts[args.words[0] ?? ''] ?? bash);
  return exitCodes.ok;
};
