import { hashPassword as hash } from '@call-attribution/service';
import type { Handler } from '../args/command.ts';
import { exitCodes } from '../exit-codes.ts';
import { write } from '../io.ts';
import { readPassword } from './feeds.ts';

/** `calls serve --hash-password`: the hash of a password, for "passwordHash" in the file of feeds. */
export const hashPassword: Handler = async (_args, io) => {
  await write(io.stdout, `${await hash(await readPassword(io))}\n`);
  return exitCodes.ok;
};
