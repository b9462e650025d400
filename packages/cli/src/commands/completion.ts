import type { Handler } from '../args/command.ts';
import { sharedOptions } from '../args/options.ts';
import { bash } from '../completion/bash.ts';
import { fish } from '../completion/fish.ts';
import type { CompletionWriter } from '../completion/lists.ts';
import { zsh } from '../completion/zsh.ts';
import { exitCodes } from '../exit-codes.ts';
import { write } from '../io.ts';

/** `calls completion`: a script made from the command table, so that it offers exactly what the parser accepts. */
export const completion: Handler = async (args, io, commands) => {
  const writers: Readonly<Record<string, CompletionWriter>> = { bash, zsh, fish };
  const writer = writers[args.words[0] ?? ''] ?? bash;
  await write(io.stdout, writer(commands, sharedOptions));
  return exitCodes.ok;
};
