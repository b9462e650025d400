import type { Handler } from '../args/command.ts';
import { contextOf, openClient } from '../calls/connect.ts';
import { filterOf } from '../calls/filter.ts';
import { readSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { say, write } from '../io.ts';

/** `calls count`: one number on stdout, so that a script can read it. */
export const count: Handler = async (args, io) => {
  const settings = readSettings(args, io);
  const filter = filterOf(args, contextOf(settings, io));
  const client = await openClient(settings, args, io);
  try {
    const { total, source } = await client.countCalls({ filter, signal: io.signal });
    await write(io.stdout, args.flag('json') ? `${JSON.stringify({ total, source })}\n` : `${total}\n`);
    if (args.flag('verbose')) say(io, `counted by the server (${source})`);
    return exitCodes.ok;
  } finally {
    await client.close();
  }
};
