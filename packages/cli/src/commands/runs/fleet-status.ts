import { retryAside, statusOf } from '@call-attribution/fleet';
import type { Args } from '../../args.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { hasTrouble, statusScreen } from '../../fleet/status.ts';
import { type Io, say, show, write } from '../../io.ts';
import { styleFor, widthOf } from '../../terminal/style.ts';
import { whileWaiting } from '../../terminal/waiting.ts';
import { openShared } from './fleet-place.ts';

/** `calls fleet status`: what runs, which accounts are stuck, why, and what helps. */
export async function status(args: Args, io: Io): Promise<number> {
  const { name, engine } = await openShared(args, io);
  try {
    const status = statusOf(
      await whileWaiting('waiting for the engine', () => engine.look()),
      io.clock.now(),
    );
    if (status === null)
      throw new UsageError(`the engine has no job ${name}`, [
        'calls fleet work JOB.json starts it',
      ]);
    const all = args.flag('all');
    const accounts = status.accounts.filter((account) => all || hasTrouble(account));
    if (args.flag('json')) await write(io.stdout, `${JSON.stringify({ ...status, accounts })}\n`);
    else {
      const width = widthOf(io.stdout, io.env);
      const style = styleFor(io.stdout, io.env);
      await show(io, statusScreen(status, { width, style, all }));
    }
    return exitCodes.ok;
  } finally {
    await engine.close();
  }
}

/** `calls fleet retry`: takes what was set aside back into the work, once its reason is gone. */
export async function retry(args: Args, io: Io): Promise<number> {
  const { name, engine } = await openShared(args, io);
  try {
    const results = await retryAside(engine, { accounts: args.list('account') });
    if (results.length === 0) say(io, `${name}: nothing is set aside`);
    for (const { account, wasAside } of results)
      say(io, `${account}: ${wasAside ? 'back to work' : 'was not set aside; its turn comes now'}`);
    return exitCodes.ok;
  } finally {
    await engine.close();
  }
}
